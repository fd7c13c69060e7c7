// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope.js PROGRAM FILE - print a file as folded stacks, as speedscope's own importer reads it. PROGRAM is the
 * script of its page. Without a browser it stops early, but then the importer is defined.
 */
"use strict"
const fs = require("fs")
const vm = require("vm")

const anything = () => new Proxy(function () {}, {
	get: (known, key) => key === Symbol.toPrimitive ? () => 0 : known[key] ?? anything(),
	apply: anything,
	construct: anything,
})

globalThis.window = globalThis.self = globalThis
globalThis.document = anything()
globalThis.location = { hash: "", protocol: "file:", href: "" }
globalThis.localStorage = { getItem: () => null, setItem() {} }
globalThis.matchMedia = () => ({ matches: false, addListener() {}, addEventListener() {} })
globalThis.addEventListener = globalThis.requestAnimationFrame = () => {}
console.log = () => {}

let source = fs.readFileSync(process.argv[2], "utf8")
const [, importer] = /Importing as speedscope json file"\),([\w$]+)\(/.exec(source)
source = source.replace("(()=>{", start => start + `globalThis.importFile = file => ${importer}(file);`)
try {
	vm.runInThisContext(source)
} catch {
	// The page cannot be drawn.
}

for (const profile of importFile(JSON.parse(fs.readFileSync(process.argv[3], "utf8"))).profiles) {
	const lines = profile.samples.map((leaf, i) => {
		const names = []
		for (let node = leaf; !node.isRoot(); node = node.parent)
			names.unshift(node.frame.name.replaceAll(";", ":"))
		return `${names.join(";")} ${profile.weights[i]}\n`
	})
	process.stdout.write(lines.join(""))
}
