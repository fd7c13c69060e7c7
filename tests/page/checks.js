// SPDX-License-Identifier: Apache-2.0
//
// checks.js DIR - check the page in Chromium. Prints a line for each check: its name, the actual and the expected
// value, as JSON, separated by tabs. It makes files in DIR.

'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const {Browser} = require('./browser.js');
const {encode, head_of, rows_of, write_page} = require('./data.js');

const dir = process.argv[2];
const file = name => path.join(dir, name);
const browser = new Browser(dir);
const run = text => browser.run(text);

function is(name, got, want) {
	console.log([name, JSON.stringify(got) ?? 'undefined', JSON.stringify(want)].join('\t'));
}

const FOLDED = `make;main;parse;lex 30
make;main;parse 10
make;main;emit;write_[k];vfs_write_[k] 25
java;Interp_[f];hot_[j];inner_[i] 20
java;main;parse;main;lex 9
java;off-cpu_[o];wait_[k] 4
java;[libc.so]_[u] 2`;

// The positions on the screen of the middle of boxes with this name.
const middle_of = name => run(`(() => {
	const at = $('space').getBoundingClientRect(), box = rows.flat().find(box => label_of(box) === '${name}');
	return [at.left + box.x + box.w / 2, at.top + top_of(box.row) + ROW / 2];
})()`);
const drawn = () => run('rows.map(row => row.map(box => [label_of(box), Math.round(after_of(box))]))');
const zoomed = () => run('frame_of(view.zoom).name');
const hash = () => run('location.hash');
const table = () => run(`[...$('functions').tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))`);
const typed = async (id, text) => {
	await run(`$('${id}').value = ${JSON.stringify(text)}; $('${id}').dispatchEvent(new Event('input'));
		$('${id}').dispatchEvent(new Event('change'))`);
};
const click = id => run(`$('${id}').click()`);
// Everything that a view shows.
const seen = async () => [await drawn(), await zoomed(), await run(`[view.kind, view.flame, view.query, $('found').textContent]`)];

async function opens() {
	const line = 0xffffffff81234567n;
	const rows = rows_of([FOLDED]);
	const lex = rows[0].stack[3];
	Object.assign(lex, {module: '[app]', build: 'c0ffee', file: 'lex.c', line: 17, address: line});
	write_page(file('one.html'), encode(head_of({title: 'profile of web1'}), rows), 'profile of web1');
	await browser.visit(file('one.html'));
	is('shows its title', await run('[document.title, $("title").textContent]'), ['profile of web1', 'profile of web1']);
	is('shows the facts of its head', await run(`[...$('facts').children].map(line => line.textContent)`),
		['Hostweb1', 'Kernel6.18.0']);
	is('draws each stack, with its total', await drawn(), [
		[['all', 100]],
		[['make', 65], ['java', 35]],
		[['main', 65], ['Interp', 20], ['main', 9], ['off-cpu', 4], ['[libc.so]', 2]],
		[['parse', 40], ['emit', 25], ['hot', 20], ['parse', 9], ['wait', 4]],
		[['lex', 30], ['write', 25], ['inner', 20], ['main', 9]],
		[['vfs_write', 25], ['lex', 9]]]);
	is('widths are shares', await run(`Math.round(rows[1][0].w / width * 1000)`), 650);
	is('the table has self and total, once for each stack', (await table()).map(row => [row[4], row[0], row[2]]), [
		['lex', '30', '30'], ['vfs_write', '25', '25'], ['inner', '20', '20'], ['parse', '10', '49'], ['lex', '9', '9'],
		['wait', '4', '4'], ['[libc.so]', '2', '2'], ['make', '0', '65'], ['main', '0', '74'], ['emit', '0', '25'],
		['write', '0', '25'], ['java', '0', '35'], ['Interp', '0', '20'], ['hot', '0', '20'], ['off-cpu', '0', '4']]);
	is('self values of the table add up to all', (await table()).reduce((sum, row) => sum + Number(row[0]), 0), 100);
	const [x, y] = await middle_of('lex');
	await browser.drag([[x, y + 300]]);
	await browser.send('Input.dispatchMouseEvent', {type: 'mouseMoved', x, y});
	const tip = await run(`$('tip').innerText.replace(/\\s+/g, ' ')`);
	is('a tooltip has all that is known of a frame', tip, 'lex Kind user Module [app] Source lex.c:17 ' +
		'Address 0xffffffff81234567 Build id c0ffee Total 30 30.00 % of all Self 30 30.00 % of all 75.00 % of its caller');
	is('each kind has a colour in the legend', await run(`$('legend').innerText.split(/\\s*\\n\\s*/).join()`),
		'user,kernel,inlined,JIT,interpreter,unknown,off-CPU,narrow frames, merged');
	is('what is off the CPU has its colour', await run(`colour_of(rows.flat().find(box => label_of(box) === 'wait')) ===
		kind_colour(OFF_CPU, fns.find(fn => fn.name === 'wait').shade)`), true);
	is('the canvas, buttons and the table have roles and names', await run(`[$('graph').getAttribute('role'),
		/^Flame graph: stacks, 100/.test($('graph').ariaLabel), $('functions').tagName,
		[...document.querySelectorAll('button')].every(button => button.innerText || button.ariaLabel || !button.checkVisibility())]`),
	['application', true, 'TABLE', true]);
}

async function zooms() {
	await browser.drag([await middle_of('emit'), await middle_of('emit')]);
	is('a click zooms', [await zoomed(), (await drawn()).slice(2)],
		['emit', [[['main', 65]], [['emit', 25]], [['write', 25]], [['vfs_write', 25]]]]);
	is('the link has the zoom', await hash(), '#zoom=0,0,1');
	await browser.drag([await middle_of('main'), await middle_of('main')]);
	is('a click on a caller zooms out to it', await zoomed(), 'main');
	await click('back');
	is('Back goes to the view before', await zoomed(), 'emit');
	await click('reset');
	is('Reset shows all', [await zoomed(), await hash()], ['all', '']);
}

async function searches() {
	await typed('query', '^le|^inner$');
	is('search adds up what matches', await run(`$('found').textContent`), '59.00 % matched, 3 places');
	await click('next');
	await click('next');
	is('the next match is selected', await run(`[label_of(selected), at_match, $('found').textContent]`),
		['inner', 1, '59.00 % matched, 2 of 3']);
	await click('previous');
	is('the previous match is selected', await run(`label_of(selected)`), 'lex');
	await typed('query', 'MAIN');
	is('a capital letter makes the case count', await run(`$('found').textContent`), '0.00 % matched, 0 places');
	await typed('query', 'main');
	is('a stack that matches twice counts once', await run(`$('found').textContent`), '74.00 % matched, 2 places');
	await typed('query', '(');
	is('what is no regular expression is told', await run(`[$('found').textContent, $('query').ariaInvalid]`),
		['not a regular expression', 'true']);
	await typed('query', '');
}

async function merges() {
	await click('callers');
	is('inverted: functions by their own samples, then callers', (await drawn()).slice(0, 3), [[['all', 100]],
		[['lex', 30], ['vfs_write', 25], ['inner', 20], ['parse', 10], ['lex', 9], ['wait', 4], ['[libc.so]', 2]],
		[['parse', 30], ['write', 25], ['hot', 20], ['main', 10], ['main', 9], ['off-cpu', 4], ['java', 2]]]);
	await run(`show({fn: fns.findIndex(fn => fn.name === 'main')})`);
	is('callers of a function: merged, each stack once', await drawn(),
		[[['all', 74]], [['main', 74]], [['make', 65], ['java', 9]]]);
	await click('callees');
	is('callees of a function: merged', await drawn(), [[['all', 74]], [['main', 74]], [['parse', 49], ['emit', 25]],
		[['lex', 30], ['main', 9], ['write', 25]], [['lex', 9], ['vfs_write', 25]]]);
	await click('stacks');
	is('only stacks with a function', (await drawn()).slice(0, 3), [[['all', 74]], [['make', 65], ['java', 9]],
		[['main', 65], ['main', 9]]]);
	await click('clear');
	is('and all of them again', (await drawn())[0], [['all', 100]]);
}

async function links() {
	await run(`show({kind: 'callers', query: 'a+b|e', flame: true})`);
	await run(`show({zoom: tree.step(tree.first(0))})`);
	const before = await seen(), link = await hash();
	await browser.visit(file('one.html'), link);
	is('a link gives the same view', await seen(), before);
	is('the link stays', await hash(), link);
	for (const wrong of ['#zoom=9,9&kind=x&fn=99999&range=7,1&base=-&query=%', '#%%%', '#zoom=1e9&fn=-1&wide=&flame=1', '#zoom=' + '0,'.repeat(5000)])
		await browser.visit(file('one.html'), wrong);
	is('a link without sense shows all', [await zoomed(), await run('view.kind'), (await drawn())[0]], ['all', 'stacks', [['all', 100]]]);
}

async function sorts() {
	await run(`[...$('functions').tHead.rows[0].cells][4].firstChild.click()`);
	is('the table sorts by name', (await table()).map(row => row[4]).slice(0, 4), ['Interp', '[libc.so]', 'emit', 'hot']);
	is('it says by what it is sorted', await run(`[...$('functions').tHead.rows[0].cells].map(cell => cell.ariaSort).join()`),
		'none,none,none,none,ascending,none');
	await typed('filter', 'app|wr');
	is('the table can be filtered by name and module', (await table()).map(row => row[4]), ['lex', 'vfs_write', 'write']);
	await run(`$('functions').tBodies[0].rows[1].querySelector('button').click()`);
	is('a click in the table filters the graph', [(await drawn())[0], await run(`$('clear').textContent`)],
		[[['all', 25]], 'Only stacks with vfs_write ×']);
	await typed('filter', '');
}

async function keys() {
	await browser.visit(file('one.html'));
	for (let i = 0; i < 20 && await run('document.activeElement !== $("graph")'); i++)
		await browser.press('Tab');
	is('Tab reaches the graph', await run('document.activeElement.id'), 'graph');
	for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown', 'ArrowDown'])
		await browser.press(key);
	is('arrows move', await run('label_of(selected)'), 'hot');
	is('what is selected is said', await run('/^hotKindJITTotal20/.test($("tip").textContent) && $("tip").role === "status"'), true);
	await browser.press('Enter');
	is('Enter zooms', await zoomed(), 'hot');
	await browser.press('Backspace');
	is('Backspace goes back', await zoomed(), 'all');
	await browser.press('c');
	is('c shows callers', await run('[view.kind, fns[view.fn].name]'), ['callers', 'hot']);
	await browser.press('Escape');
	await browser.press('/');
	await browser.type('lex');
	is('/ searches', await run('[document.activeElement.id, view.query]'), ['query', 'lex']);
	await browser.press('Escape');
	await browser.press('n');
	await browser.press('n');
	is('n goes to the next match', await run('[label_of(selected), at_match]'), ['lex', 1]);
	await browser.press('N', true);
	is('N goes to the previous match', await run('at_match'), 0);
	await browser.press('i');
	await browser.press('o');
	is('i inverts, o turns the graph over', await run('[view.kind, view.flame]'), ['callers', true]);
	await browser.press('?', true);
	is('? shows help', await run('$("help").matches(":popover-open")'), true);
	await browser.press('Escape');
	await browser.press('0');
	is('0 resets', await run('[view.kind, view.query, view.flame]'), ['stacks', '', true]);
}

async function exports_() {
	await browser.visit(file('one.html'));
	const counts = await run(`(() => {
		const made = new DOMParser().parseFromString(svg_text(), 'image/svg+xml');
		return [made.querySelectorAll('parsererror').length, made.querySelectorAll('rect.frame').length, rows.flat().length];
	})()`);
	is('SVG is well-formed, with a rectangle for each frame', counts, [0, 19, 19]);
	await browser.send('Page.setDownloadBehavior', {behavior: 'allow', downloadPath: dir});
	for (const ending of ['svg', 'png']) {
		await click(ending);
		for (let i = 0; i < 200 && !fs.existsSync(file(`flamegraph.${ending}`)); i++)
			await new Promise(resolve => setTimeout(resolve, 50));
	}
	is('SVG and PNG are saved', [fs.readFileSync(file('flamegraph.svg'), 'utf8').slice(0, 4),
		fs.readFileSync(file('flamegraph.png')).subarray(1, 4).toString()], ['<svg', 'PNG']);
}

async function looks() {
	const pixel = `[...$('graph').getContext('2d').getImageData(30, 470, 1, 1).data].slice(0, 3).join()`;
	const before = await run(`[dark.matches, ${pixel}, getComputedStyle(document.body).backgroundColor]`);
	await browser.dark(true);
	is('light and dark follow the system', [before, await run(`new Promise(done => requestAnimationFrame(() =>
		done([dark.matches, ${pixel}, getComputedStyle(document.body).backgroundColor])))`)],
	[[false, '255,255,255', 'rgb(255, 255, 255)'], [true, '21,24,28', 'rgb(21, 24, 28)']]);
	await browser.dark(false);
	await browser.size(1000, 700, 2);
	await run('new Promise(done => setTimeout(done, 200))');
	is('the canvas has the pixels of the screen', await run('[$("graph").width, width, $("graph").width / width]'),
		[1916, 958, 2]);
	await browser.size(1200, 900);
}

async function times() {
	const folded = [];
	for (let i = 0; i < 10; i++)
		folded.push(`a;main;work ${10 + i}\na;main;rest 5\n${i === 7 ? 'a;burst 40\n' : ''}`);
	const columns = folded.map((_, i) => ({number: i + 1, seconds: 1}));
	write_page(file('times.html'), encode(head_of({columns}), rows_of(folded)));
	await browser.visit(file('times.html'));
	is('all intervals at first', [(await drawn())[0], await run('rate_of(7)')], [[['all', 235]], 62 / 99]);
	const at = await run(`(() => {
		const {left, top} = $('timeline').getBoundingClientRect(), wide = ($('time').clientWidth - GUTTER) / 10;
		return [left + GUTTER + wide / 2, top + 40, wide];
	})()`);
	const point = i => [at[0] + i * at[2], at[1]];
	await browser.drag([point(7), point(8), point(8)]);
	is('dragging chooses intervals', [(await drawn()).slice(0, 3), await run('$("range").value'), await hash()],
		[[[['all', 85]], [['a', 85]], [['main', 45], ['burst', 40]]], '8-9', '#range=7,8']);
	is('the table has the same sum', (await table()).reduce((sum, row) => sum + Number(row[0]), 0), 85);
	await browser.drag([point(3), point(2), point(1)], true);
	is('Shift-drag compares', await run('[$("base").value, before.whole, !$("sides").hidden]'), ['2-4', 51, true]);
	is('shares are compared', await run(`change_text(functions_of(after).own[fns.findIndex(fn => fn.name === 'burst')], 0)`), '+47.06 points');
	const link = await hash();
	await browser.visit(file('times.html'), link);
	is('a link has both ranges', await run('[view.range, view.base]'), [[7, 8], [1, 3]]);
	await typed('base', '');
	await typed('range', '3');
	is('ranges can be written', [(await drawn())[0], await run('!before')], [[['all', 17]], true]);
	await run(`$('range').select()`);
	await browser.type('4-5');
	await browser.press('Tab');
	is('the keyboard chooses intervals', await run('view.range'), [3, 4]);
}

async function compares() {
	const before = 'a;main;work 60\na;main;gone;deep 30\na;main;rest 10', after = 'a;main;work 150\na;main;rest 30\na;main;new 20';
	const page = absolute => write_page(file('compare.html'), encode(head_of({columns: [{}, {number: 1, seconds: 1}], before: 0,
		absolute}), rows_of([before, after])));
	page(false);
	await browser.visit(file('compare.html'));
	is('begins with the comparison, as wide as after', [await drawn(), await run('[$("compare").ariaPressed, $("time").hidden]')],
		[[[['all', 200]], [['a', 200]], [['main', 200]], [['work', 150], ['rest', 30], ['new', 20], ['1 small', 0]]], ['true', true]]);
	is('the table has before, after and the change', (await table()).find(row => row[6] === 'work'),
		['60.00 %', '75.00 %', '+15.00', '60.00 %', '75.00 %', '+15.00', 'work', '']);
	is('what grew is red, what shrank blue', await run(`['work', 'gone'].map(name => {
		const fn = fns.findIndex(fn => fn.name === name);
		return change_colour(change(functions_of(after).total[fn], functions_of(before).total[fn]) / scale).match(/hsl.(\\d+)/)[1];
	})`), ['6', '212']);
	is('stacks that vanished have a mark', await run(`(() => {
		const box = rows[3].at(-1);
		return [vanished(box), box.w, title_of(box), box.b];
	})()`), [true, 6, '1 vanished frames, click to see them', 30]);
	const left = await run(`$('space').getBoundingClientRect().left`), [, y] = await middle_of('work');
	await browser.drag([[left + 3, y], [left + 3, y]]);
	is('a click on it shows them, as wide as before', [await run('[view.wide, frame_of(view.zoom).name]'), (await drawn())[3]],
		[[true, 'main'], [['work', 150], ['gone', 0], ['rest', 30]]]);
	is('what vanished is hatched', await run(`vanished(rows[3][1]) && facts_of(rows[3][1]).flat().includes('vanished')`), true);
	await click('compare');
	is('the comparison can be left', await run('[before, colour_of(rows[3][0]).slice(0, 6), location.hash.includes("base=off")]'),
		[null, 'hsl(41', true]);
	page(true);
	await browser.visit(file('compare.html'));
	is('absolute values are compared as they are', (await table()).find(row => row[6] === 'work').slice(0, 3), ['60', '150', '+90']);
}

async function narrow() {
	const rows = [{stack: [{kind: 1, name: 'wide'}], values: {0: 99000}}];
	for (let i = 0; i < 1000; i++)
		rows.push({stack: [{kind: 1, name: 'many'}, {kind: 1, name: `f${i}`}], values: {0: 1}});
	for (let i = 0; i < 3000; i++)
		rows.push({stack: Array.from({length: i < 1 ? 3000 : 1}, (_, k) => ({kind: 1, name: `g${k}`})),
			values: {0: i < 1 ? 2000 : 1}});
	write_page(file('narrow.html'), encode(head_of({}), rows));
	await browser.visit(file('narrow.html'));
	is('narrow frames are merged: how many, and their sum', await run(`rows[2].filter(box => box.count).map(box => [box.count, box.a])`),
		[[1000, 1000]]);
	is('a tooltip says so', await run(`title_of(rows[2].find(box => box.count))`), '1,000 narrow frames, merged');
	is('a deep stack is scrolled, not a large canvas', await run(`[rows.length, $('space').offsetHeight > 54000, $('graph').height < 2000]`),
		[3001, true, true]);
	await run(`show({zoom: tree.step(tree.first(0))})`);
	is('zoomed, narrow frames are drawn', await run(`rows[2].length`), 1000);
}

async function hostile() {
	const names = ['</script><script>window.hacked=1</script>', '\u2028\u2029', `"'\`&amp;<b>`, '<img src=x onerror="window.hacked=1">',
		'x'.repeat(65536), '\u202e\ufffd', '${hacked=1}', '__proto__', '@DATA@', 'tab\tin\u0001\ufffe'];
	const rows = names.map((name, i) => ({stack: [{kind: 7, name: 'comm'}, {kind: 1, name, module: name, file: name, line: 1}],
		values: {0: 100 + i}}));
	const title = names[0];
	write_page(file('hostile.html'), encode(head_of({title, facts: [[names[3], names[0]]]}), rows), title);
	await browser.visit(file('hostile.html'));
	is('hostile names are only shown', await run(`[window.hacked ?? null, document.images.length, document.scripts.length, document.title,
		fns.length, rows[2].length]`), [null, 0, 2, title, 12, 10]);
	await run(`for (const box of rows.flat()) show_tip(box, 1, 1)`);
	is('in tooltips, too', await run('[window.hacked ?? null, document.images.length]'), [null, 0]);
	is('and in SVG', await run(`(() => {
		const made = new DOMParser().parseFromString(svg_text(), 'image/svg+xml');
		return [made.querySelectorAll('parsererror, script, img').length, made.querySelectorAll('rect.frame').length];
	})()`), [0, 12]);
	await browser.size(2400, 900);
	is('a name of 64 KiB is cut', await run(`[$('functions').innerText.length < 6000, $('tip').innerText.length < 3000]`), [true, true]);
	await browser.size(1200, 900);
}

async function damaged() {
	const good = Buffer.from(encode(head_of({}), rows_of([FOLDED]))), packed = zlib.gzipSync(good), told = [];
	const pages = {
		'nothing': '', 'no base64': '!!!', 'no gzip': Buffer.from('hello').toString('base64'),
		'half of gzip': packed.subarray(0, packed.length / 2).toString('base64'), 'a wrong sum': (() => {
			const wrong = Buffer.from(packed);
			wrong[wrong.length - 6] ^= 1;
			return wrong.toString('base64');
		})(),
		'another version': Buffer.from(good.toString('latin1').replace('\x02', '\x01'), 'latin1'),
		'odd facts': encode(head_of({facts: [1]}), rows_of([FOLDED])),
		'odd columns': encode(head_of({columns: [null]}), rows_of([FOLDED])),
		'another head': Buffer.from('fprof\x02\n\x02{}\0\0\0', 'latin1'),
	};
	for (const size of [3, 8, 100, good.length - 1])
		pages[`${size} bytes`] = good.subarray(0, size);
	for (const value of [255, 128, 127])
		for (const at of [good.length - 1, good.length - 40, good.length - 60, good.length - 90]) {
			const wrong = Buffer.from(good);
			wrong[at] = value;
			pages[`${value} at ${at}`] = wrong;
		}
	pages['one byte more'] = Buffer.concat([good, Buffer.from([0])]);
	for (const [name, data] of Object.entries(pages)) {
		write_page(file('damaged.html'), data);
		await browser.visit(file('damaged.html'));
		const text = await run(`$('main').hidden && $('message').checkVisibility() ? $('message').textContent : 'shown'`);
		if (!/^This page cannot show its profile, which is damaged/.test(text) && !/^127 at/.test(name))
			told.push(`${name}: ${text}`);
	}
	is('damaged data are told, not half shown', told, []);
}

async function all() {
	const limit = setTimeout(() => browser.child.kill('SIGKILL'), 600000);
	await browser.begin();
	for (const test of [opens, zooms, searches, merges, links, sorts, keys, exports_, looks, times, compares, narrow, hostile, damaged]) {
		try {
			await test();
		} catch (error) {
			is(`${test.name} goes on to its end`, error.message, '');
		}
	}
	// This test reads pixels twice, and Chromium warns of that.
	is('no errors on the console', browser.errors.filter(text => !/Multiple readback/.test(text)), []);
	is('nothing is requested but the page', browser.requests.filter(url => !/^(file:\/\/\/.*\.html|about:blank|data:,|blob:)/.test(url)), []);
	clearTimeout(limit);
	await browser.end();
}

all().catch(error => {
	console.error(error);
	process.exitCode = 1;
});
