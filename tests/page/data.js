// SPDX-License-Identifier: Apache-2.0
//
// Make pages without the program: rows of stacks, or folded text, become the data of core/formats/page.html.

'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const TEMPLATE = path.join(__dirname, '../../core/formats/page.html');
const SUFFIXES = {k: 0, i: 2, j: 3, u: 4, f: 5, m: 6, t: 7, o: 8}; // of names in folded text: main_[k]

class Writer {
	constructor() {
		this.bytes = Buffer.alloc(1 << 16);
		this.size = 0;
	}
	room(size) {
		if (this.size + size <= this.bytes.length)
			return;
		const larger = Buffer.alloc(Math.max(this.bytes.length * 2, this.size + size));
		this.bytes.copy(larger);
		this.bytes = larger;
	}
	number(value) {
		this.room(10);
		if (typeof value === 'bigint') {
			for (; value >= 128n; value >>= 7n)
				this.bytes[this.size++] = Number(value & 127n) | 128;
			value = Number(value);
		}
		for (; value >= 128; value = Math.floor(value / 128))
			this.bytes[this.size++] = value % 128 | 128;
		this.bytes[this.size++] = value;
	}
	raw(text) {
		this.room(Buffer.byteLength(text));
		this.size += this.bytes.write(text, this.size);
	}
	text(text) {
		this.number(Buffer.byteLength(text));
		this.raw(text);
	}
	done() {
		return this.bytes.subarray(0, this.size);
	}
}

// One frame of folded text: { kind, name }.
function frame_of(text) {
	const [, name, suffix] = /^(.*)_\[([a-z])\]$/s.exec(text) ?? [];
	return suffix in SUFFIXES ? {kind: SUFFIXES[suffix], name} : {kind: 1, name: text};
}

// Folded texts, one for each column. Return: rows { stack, values }; the first frame of each stack is the task.
function rows_of(texts) {
	const rows = new Map();
	texts.forEach((text, column) => {
		for (const line of text.split('\n').filter(Boolean)) {
			const at = line.lastIndexOf(' '), key = line.slice(0, at);
			if (!rows.has(key)) {
				const [task, ...stack] = key.split(';');
				rows.set(key, {stack: [{kind: 7, name: task}, ...stack.map(frame_of)], values: {}});
			}
			const {values} = rows.get(key);
			values[column] = (values[column] ?? 0) + Number(line.slice(at + 1));
		}
	});
	return [...rows.values()];
}

// Encode the data of a page, before gzip. @rows: { stack: [{ kind, name, module, build, file, line, address }], values:
// { column: value } }.
function encode(head, rows) {
	const w = new Writer(), strings = new Map(), frames = new Map();
	const number_of = (map, key) => map.get(key) ?? (map.set(key, map.size), map.size - 1);
	const string = text => text === undefined ? 0 : number_of(strings, text) + 1;
	const frame = f => f.number ??= number_of(frames, [f.kind, string(f.name) - 1, string(f.module), string(f.build),
		string(f.file), f.line ?? 0, f.address ?? 0].join());
	const root = {kids: new Map(), values: {}};
	let nr = 0;

	for (const {stack, values} of rows) {
		let node = root;
		for (const f of stack) {
			const id = frame(f);
			let kid = node.kids.get(id);
			if (!kid) {
				node.kids.set(id, kid = {frame: id, kids: new Map(), values: {}});
				nr++;
			}
			node = kid;
		}
		for (const column in values)
			node.values[column] = (node.values[column] ?? 0) + values[column];
	}
	w.raw('fprof\x01\n');
	w.text(JSON.stringify(head));
	w.number(strings.size);
	for (const text of strings.keys())
		w.text(text);
	w.number(frames.size);
	for (const key of frames.keys())
		for (const field of key.split(','))
			w.number(BigInt(field));
	w.number(nr);

	const todo = [...root.kids.values()].reverse().map(node => ({node, depth: 1}));
	let depth = 0;
	while (todo.length) {
		const {node, depth: at} = todo.pop();
		w.number(depth + 1 - at);
		depth = at;
		w.number(node.frame);
		const pairs = Object.entries(node.values).filter(([, value]) => value);
		w.number(pairs.length);
		let last = 0;
		for (const [column, value] of pairs) {
			if (head.columns.length > 1)
				w.number(column - last);
			last = column;
			w.number(value);
		}
		for (const kid of [...node.kids.values()].reverse())
			todo.push({node: kid, depth: at + 1});
	}
	return w.done();
}

function head_of(changes) {
	return {tool: 'profile', unit: 'samples', title: 'a test', facts: [['Host', 'web1'], ['Kernel', '6.18.0']], cpus: 2,
		per_second: 99, columns: [{}], before: -1, absolute: false, ...changes};
}

const html = text => text.replace(/[&<>"]/g, letter => `&#${letter.charCodeAt(0)};`);

// Write the page. @data: base64, or the bytes before gzip.
function write_page(file, data, title = 'a test') {
	const text = typeof data === 'string' ? data : zlib.gzipSync(data, {level: 6}).toString('base64');
	const [start, middle, end] = fs.readFileSync(TEMPLATE, 'utf8').split(/@TITLE@|@DATA@/);
	fs.writeFileSync(file, start + html(title) + middle + text + end);
}

module.exports = {TEMPLATE, Writer, encode, head_of, rows_of, write_page};
