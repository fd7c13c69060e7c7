// SPDX-License-Identifier: Apache-2.0
//
// speedscope.js DIR RELEASE FILE - open FILE in speedscope's own page, whose files are in RELEASE, as its command does,
// and print the rows of functions that it shows: samples in all, by itself, and the name, separated by tabs.

'use strict';
const fs = require('fs');
const path = require('path');
const {pathToFileURL} = require('url');
const {Browser} = require('./browser.js');

async function main(dir, release, file) {
	const script = path.join(dir, 'profile.js');
	const browser = new Browser(dir);
	const shown = async (pattern, key) => {
		for (let i = 0; i < 1200; i++) {
			const text = await browser.run('document.body ? document.body.innerText : ""');
			if (pattern.test(text))
				return text;
			if (key)
				await browser.press(key);
			await new Promise(resolve => setTimeout(resolve, 25));
		}
		throw Error(`speedscope does not show ${pattern}: ${browser.errors}`);
	};

	fs.writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(path.basename(file))},
		"${fs.readFileSync(file).toString('base64')}")`);
	await browser.begin();
	await browser.send('Page.navigate', {url: `${pathToFileURL(path.join(release, 'index.html'))}#localProfilePath=${script}`});
	await shown(/Sandwich/);
	// The page accepts keys once it has loaded the profile.
	const text = await shown(/^Total\tSelf\tSymbol Name$[^]*%/m, '3');
	for (const [, total, self, name] of text.matchAll(/^([\d,]+) \([^)]*\)\s+([\d,]+) \([^)]*\)\s+(.*)$/gm))
		console.log([total, self, name].join('\t').replaceAll(',', ''));
	await browser.end();
}

main(...process.argv.slice(2)).catch(error => {
	console.error(error);
	process.exit(1);
});
