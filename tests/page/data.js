// SPDX-License-Identifier: Apache-2.0
//
// Make pages without the program: rows of stacks, or folded text, become the data of its template, made of
// core/formats/page.html.

'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const TEMPLATE = path.join(process.env.O ?? path.join(__dirname, '../../build'), 'core/formats/page.template');
const MAGIC = 'fprof\x02\n';
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
	bytes_of(bytes) {
		this.room(bytes.length);
		bytes.copy(this.bytes, this.size);
		this.size += bytes.length;
	}
	done() {
		return this.bytes.subarray(0, this.size);
	}
}

// Stacks as in parts 5 and 6 of core/formats/page_data.h, of which each shares its first frames with the one before.
class Stacks {
	constructor(frames) {
		Object.assign(this, {frames, nodes: 0, path: [], followers: new Map(), counts: new Array(frames + 1).fill(0), blocks: new Writer()});
		this.begin();
	}
	begin() {
		this.nr = this.pairs = this.added = 0;
		[this.drops, this.adds, this.sizes, this.deltas, this.values, this.places] = Array.from({length: 6}, () => new Writer());
		this.fresh = [];
	}
	// @added: numbers of frames; @pairs: of columns and values
	add(dropped, added, pairs) {
		this.path.length -= dropped;
		this.drops.number(dropped);
		this.adds.number(added.length);
		for (const frame of added) {
			const caller = this.path.at(-1) ?? this.frames, key = caller * (this.frames + 1) + frame, known = this.followers.get(key);
			this.places.number(known ?? 0);
			if (!known) {
				this.followers.set(key, ++this.counts[caller]);
				this.fresh.push(frame);
			}
			this.path.push(frame);
		}
		this.nodes += added.length;
		this.added += added.length;
		this.pairs += pairs.length;
		let last = 0;
		this.sizes.number(pairs.length);
		for (const [column, value] of pairs) {
			this.deltas.number(column - last);
			last = column;
			this.values.number(value);
		}
		if (++this.nr === 65536)
			this.end();
	}
	end() {
		for (const number of [this.nr, this.pairs, this.added, this.fresh.length])
			this.blocks.number(number);
		for (const column of [this.drops, this.adds, this.sizes, this.deltas, this.values, this.places])
			this.blocks.bytes_of(column.done());
		for (let shift = 0; 2 ** shift < this.frames; shift += 8)
			this.blocks.bytes_of(Buffer.from(this.fresh.map(frame => frame >> shift & 255)));
		this.begin();
	}
	put(w) {
		if (this.nr)
			this.end();
		for (const count of this.counts)
			w.number(count);
		w.number(this.nodes);
		w.bytes_of(this.blocks.done());
		w.number(0);
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
	const string = text => text ? number_of(strings, text) + 1 : 0;
	const frame = f => f.number ??= number_of(frames, [f.kind, f.line ?? 0, ...[f.name, f.module, f.build, f.file,
		f.address && `0x${f.address.toString(16)}`].map(string)].join());
	const root = {kids: new Map(), values: {}};

	for (const {stack, values} of rows.filter(row => Object.values(row.values).some(Boolean))) {
		let node = root;
		for (const f of stack) {
			const id = frame(f);
			let kid = node.kids.get(id);
			if (!kid)
				node.kids.set(id, kid = {frame: id, kids: new Map(), values: {}});
			node = kid;
		}
		for (const column in values)
			node.values[column] = (node.values[column] ?? 0) + values[column];
	}
	w.raw(MAGIC);
	w.text(JSON.stringify(head));
	w.text([...strings.keys(), ''].join('\n'));
	w.number(frames.size);
	const keys = [...frames.keys()].map(key => key.split(','));
	for (let column = 0; column < 7; column++)
		keys.forEach(fields => w.number(Number(fields[column])));

	const stacks = new Stacks(frames.size);
	const todo = [...root.kids.values()].reverse().map(node => ({node, depth: 1}));
	let depth = 0, dropped = 0, added = [];
	while (todo.length) {
		const {node, depth: at} = todo.pop(), pairs = Object.entries(node.values).filter(([, value]) => value);
		dropped += depth + 1 - at;
		depth = at;
		added.push(node.frame);
		if (pairs.length) {
			stacks.add(dropped, added, pairs);
			[dropped, added] = [0, []];
		}
		for (const kid of [...node.kids.values()].reverse())
			todo.push({node: kid, depth: at + 1});
	}
	stacks.put(w);
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

module.exports = {MAGIC, TEMPLATE, Stacks, Writer, encode, head_of, rows_of, write_page};
