// SPDX-License-Identifier: Apache-2.0
//
// measure.js DIR [STACKS [graph]] - measure how long Chromium takes to open a page with this number of distinct stacks
// (1,000,000), 20 to 40 frames deep, and to zoom. Functions call each other at random, which no program does and nothing
// compresses; with "graph" each calls at most 12. It prints figures and checks nothing.

'use strict';
const fs = require('fs');
const path = require('path');
const {Browser} = require('./browser.js');
const {MAGIC, Stacks, Writer, head_of, write_page} = require('./data.js');

const dir = process.argv[2], stacks = Number(process.argv[3] ?? 1000000), FUNCTIONS = 20000;
const graph = process.argv[4] === 'graph';

// Generate stacks in preorder, without a tree in memory: each has all but its last frames in common with the one before
// it.
function make() {
	const w = new Writer(), made = new Stacks(FUNCTIONS);
	let seed = 1, depth = 0;
	const random = below => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
		return Math.floor(seed / 4294967296 * below);
	};
	const callees = Array.from({length: graph ? FUNCTIONS : 0}, () =>
		Array.from({length: 1 + random(12)}, () => random(random(3) ? FUNCTIONS : 300)));
	for (let i = 0; i < stacks; i++) {
		// Most stacks leave the one before near its leaf, some near the root.
		const keep = i === 0 ? 0 : Math.max(1, depth - 1 - (random(50) === 0 ? random(depth) : random(6)));
		const size = Math.max(keep + 1, 20 + random(21)), added = [];
		for (let at = keep; at < size; at++) {
			const called = callees[added.at(-1) ?? made.path[keep - 1]];
			added.push(called ? called[Math.floor((random(65536) / 65536) ** 2 * called.length)] : random(at < 8 ? 200 : FUNCTIONS));
		}
		made.add(depth - keep, added, [[0, 1 + random(random(1000) === 0 ? 5000 : 3)]]);
		depth = size;
	}
	w.raw(MAGIC);
	w.text(JSON.stringify(head_of({title: `${stacks} stacks`})));
	const numbers = Array.from({length: FUNCTIONS}, (_, i) => i), names = numbers.map(i => `some_function_with_a_name_${i}`);
	w.text([...names, ...numbers.map(i => `0x${(0x401000 + i * 96).toString(16)}`), '[libsome.so]', ''].join('\n'));
	w.number(FUNCTIONS);
	for (const value of [i => i % 6, () => 0, i => i + 1, () => 2 * FUNCTIONS + 1, () => 0, () => 0, i => FUNCTIONS + i + 1])
		for (const i of numbers)
			w.number(value(i));
	made.put(w);
	return {nr: made.nodes, data: Buffer.from(w.done())};
}

async function measure(browser) {
	const file = path.join(dir, 'large.html'), {nr, data} = make();
	write_page(file, data, 'large');
	console.log(`${stacks} stacks, ${nr} nodes, ${data.length} bytes of data, a page of ${fs.statSync(file).size} bytes`);
	await browser.begin(1600, 1000);
	// Measure from the begin of the navigation to the frame that shows the graph.
	await browser.send('Page.addScriptToEvaluateOnNewDocument', {source: `
		new MutationObserver(() => {
			if (!document.getElementById('main')?.hidden)
				requestAnimationFrame(() => setTimeout(() => window.opened ??= Math.round(performance.now())));
		}).observe(document, {subtree: true, attributeFilter: ['hidden']})`});
	await browser.visit(file);
	console.log('open, ms:', await browser.run('opened'));
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
