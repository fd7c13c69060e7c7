// SPDX-License-Identifier: Apache-2.0
//
// Chromium without a window, driven through the pipe of --remote-debugging-pipe: messages are JSON that ends with 0.

'use strict';
const {spawn} = require('child_process');
const fs = require('fs');
const path = require('path');
const {pathToFileURL} = require('url');

class Browser {
	// @dir: the profile of the browser, and its downloads
	constructor(dir, options = {}) {
		this.dir = dir;
		this.child = spawn('chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
			'--no-first-run', '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${path.join(dir, 'browser')}`,
			'--js-flags=--max-old-space-size=4096', 'about:blank'],
		{stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: {...process.env, HOME: dir, ...options.env}});
		this.pending = new Map();
		this.waiting = new Map();
		this.errors = [];
		this.requests = [];
		this.last = 0;
		let text = '';
		this.child.stdio[4].setEncoding('utf8').on('data', part => {
			const messages = (text + part).split('\0');
			text = messages.pop();
			messages.forEach(message => this.take(JSON.parse(message)));
		});
		this.child.on('exit', () => {
			for (const {reject} of this.pending.values())
				reject(Error('chromium has ended'));
		});
		this.child.stdio[3].on('error', () => {});
	}
	take({id, method, params, result, error}) {
		if (id) {
			const {resolve, reject} = this.pending.get(id);
			this.pending.delete(id);
			return error ? reject(Error(error.message)) : resolve(result);
		}
		if (method === 'Runtime.exceptionThrown')
			this.errors.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
		else if (method === 'Runtime.consoleAPICalled' || method === 'Log.entryAdded')
			this.errors.push(JSON.stringify(params.entry?.text ?? params.args));
		else if (method === 'Network.requestWillBeSent')
			this.requests.push(params.request.url.slice(0, 100));
		this.waiting.get(method)?.(params);
		this.waiting.delete(method);
	}
	send(method, params = {}) {
		return new Promise((resolve, reject) => {
			const id = ++this.last;
			this.pending.set(id, {resolve, reject});
			this.child.stdio[3].write(JSON.stringify({id, method, params, sessionId: this.session}) + '\0');
		});
	}
	event(method) {
		return new Promise(resolve => this.waiting.set(method, resolve));
	}
	async begin(width = 1200, height = 900) {
		const {targetInfos} = await this.send('Target.getTargets');
		const {targetId} = targetInfos.find(target => target.type === 'page');
		const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
		this.session = sessionId;
		for (const domain of ['Page', 'Runtime', 'Log', 'Network'])
			await this.send(`${domain}.enable`);
		await this.size(width, height);
	}
	size(width, height, ratio = 1) {
		return this.send('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: ratio, mobile: false});
	}
	dark(on) {
		return this.send('Emulation.setEmulatedMedia',
			{features: [{name: 'prefers-color-scheme', value: on ? 'dark' : 'light'}]});
	}
	// Open a file, and wait until the page shows it, of which the table is last, or an error.
	async visit(file, hash = '') {
		await this.send('Page.navigate', {url: 'about:blank'});
		await this.send('Page.navigate', {url: pathToFileURL(file).href + hash});
		for (let i = 0; i < 1200; i++) {
			if (await this.run(`document.readyState === 'complete' && (!!document.getElementById('header')?.cells.length ||
			    /cannot/.test(document.getElementById('message')?.textContent))`))
				return;
			await new Promise(resolve => setTimeout(resolve, 25));
		}
		throw Error(`${file} does not open`);
	}
	// The value of an expression in the page.
	async run(expression) {
		const {result, exceptionDetails} = await this.send('Runtime.evaluate',
			{expression, returnByValue: true, awaitPromise: true});
		if (exceptionDetails)
			throw Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
		return result.value;
	}
	// Press a key; @shift: with the Shift key.
	async press(key, shift = false) {
		const text = key.length === 1 ? key : {Enter: '\r'}[key];
		const code = {Enter: 13, Escape: 27, Tab: 9, Backspace: 8, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39,
			ArrowDown: 40}[key] ?? key.toUpperCase().charCodeAt(0);
		const event = {key, text, windowsVirtualKeyCode: code, modifiers: shift ? 8 : 0};
		await this.send('Input.dispatchKeyEvent', {type: text ? 'keyDown' : 'rawKeyDown', ...event});
		await this.send('Input.dispatchKeyEvent', {type: 'keyUp', ...event});
	}
	async type(text) {
		for (const key of text)
			await this.press(key);
	}
	// @points: the way of the mouse. The button is pressed at the first point and released at the last one.
	async drag(points, shift = false) {
		const mouse = (type, [x, y], more) => this.send('Input.dispatchMouseEvent',
			{type, x, y, modifiers: shift ? 8 : 0, ...more});
		const button = {button: 'left', buttons: 1, clickCount: 1};
		await mouse('mouseMoved', points[0]);
		await mouse('mousePressed', points[0], button);
		for (const point of points.slice(1))
			await mouse('mouseMoved', point, {buttons: 1});
		await mouse('mouseReleased', points.at(-1), button);
	}
	async picture(file, clip) {
		const {data} = await this.send('Page.captureScreenshot', {format: 'png', clip});
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}
	async end() {
		await Promise.race([this.send('Browser.close').catch(() => {}), new Promise(resolve => setTimeout(resolve, 3000))]);
		this.child.kill('SIGKILL');
	}
}

module.exports = {Browser};
