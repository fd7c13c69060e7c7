// SPDX-License-Identifier: Apache-2.0
//
// measure.js DIR [STACKS] - measure how long Chromium takes to open a page with this number of distinct stacks
// (1,000,000), 20 to 40 frames deep, and to zoom. It prints figures and checks nothing.

'use strict';
const fs = require('fs');
const path = require('path');
const {Browser} = require('./browser.js');
const {Writer, head_of, write_page} = require('./data.js');

const dir = process.argv[2], stacks = Number(process.argv[3] ?? 1000000), FUNCTIONS = 20000;

// Generate stacks in preorder, without a tree in memory: each has all but its last frames in common with the one before
// it.
function make() {
	const w = new Writer(), nodes = new Writer();
	let seed = 1, nr = 0, depth = 0, target = 30;
	const random = below => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
		return Math.floor(seed / 4294967296 * below);
	};
	for (let i = 0; i < stacks; i++) {
		// Most stacks leave the one before near its leaf, some near the root.
		const keep = i === 0 ? 0 : Math.max(1, depth - 1 - (random(50) === 0 ? random(depth) : random(6)));
		const size = Math.max(keep + 1, 20 + random(21));
		for (let at = keep; at < size; at++) {
			nodes.number(at === keep ? depth - keep : 0);
			nodes.number(random(at < 8 ? 200 : FUNCTIONS));
			nodes.number(at === size - 1 ? 1 : 0);
			if (at === size - 1)
				nodes.number(1 + random(random(1000) === 0 ? 5000 : 3));
			nr++;
		}
		depth = size;
	}
	w.raw('fprof\x01\n');
	w.text(JSON.stringify(head_of({title: `${stacks} stacks`})));
	w.number(FUNCTIONS + 1);
	for (let i = 0; i < FUNCTIONS; i++)
		w.text(`some_function_with_a_name_${i}`);
	w.text('[libsome.so]');
	w.number(FUNCTIONS);
	for (let i = 0; i < FUNCTIONS; i++)
		for (const value of [i % 6, i, FUNCTIONS + 1, 0, 0, 0, 0x401000 + i])
			w.number(value);
	w.number(nr);
	return {nr, data: Buffer.concat([w.done(), nodes.done()])};
}

async function measure(browser) {
	const file = path.join(dir, 'large.html'), {nr, data} = make();
	write_page(file, data, 'large');
	console.log(`${stacks} stacks, ${nr} nodes, ${data.length} bytes of data, a page of ${fs.statSync(file).size} bytes`);
	await browser.begin(1600, 1000);
	// Measure from the parsed document until the graph is shown, and from the begin of the navigation.
	await browser.send('Page.addScriptToEvaluateOnNewDocument', {source: `
		document.addEventListener('DOMContentLoaded', () => {
			const parsed = performance.now(), main = document.getElementById('main');
			new MutationObserver(() => requestAnimationFrame(() => setTimeout(() => {
				window.opened = [performance.now() - parsed, performance.now()].map(Math.round);
			}))).observe(main, {attributes: true});
		})`});
	await browser.visit(file);
	for (let i = 0; i < 100 && !await browser.run('window.opened'); i++)
		await new Promise(resolve => setTimeout(resolve, 50));
	console.log('open, ms:', await browser.run('opened.join()'), '(since parsed, since the navigation)');
	// The time of a change with its painting, and until the next frame.
	const time = text => browser.run(`(async () => {
		const start = performance.now();
		${text};
		const made = performance.now() - start;
		await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
		return [made.toFixed(1), (performance.now() - start).toFixed(1)].join(', ');
	})()`);
	console.log('boxes:', await browser.run('rows.flat().length'), 'rows:', await browser.run('rows.length'));
	for (const depth of [2, 4, 8, 12, 16, 20])
		console.log(`zoom to depth ${depth}:`, await time(`show({zoom: (() => {
			let i = 0;
			for (let d = 0; d < ${depth}; d++) {
				let best = 0;
				for (let k = tree.first(i); k < tree.stop(i); k = tree.step(k))
					if (!best || size_of(k) > size_of(best))
						best = k;
				i = best || i;
			}
			return i;
		})()})`));
	console.log('zoom out:', await time('show({zoom: 0})'));
	console.log('search:', await time(`show({query: '_77'})`));
	console.log('next match:', await time('go_to_match(1)'));
	console.log('filter:', await time('show({...START, fn: 77})'));
	console.log('callers of it:', await time(`show({kind: 'callers'})`));
	console.log('inverted:', await time(`show({...START, kind: 'callers'})`));
	console.log('errors:', browser.errors);
}

const browser = new Browser(dir);
measure(browser).catch(error => {
	console.error(error);
	process.exitCode = 1;
}).finally(() => browser.end());
