// SPDX-License-Identifier: Apache-2.0
//
// pictures.js DIR - draw pictures of the page, light and dark, for an invented build host: DIR/light.png, dark.png,
// callers.png, search.png, compare.png, compare-dark.png, timeline.png, timeline-dark.png and help.png.

'use strict';
const path = require('path');
const {Browser} = require('./browser.js');
const {encode, head_of, rows_of, write_page} = require('./data.js');

// The call graph: a line for each function, with a share of 100 for each callee.
const CALLS = `
make: main 100
main: eval_makefiles 30 update_goal_chain 55 read_all_makefiles 10
eval_makefiles: variable_expand 60 parse_file_seq 25 hash_insert_at 10
update_goal_chain: update_file 80 start_waiting_job 15
update_file: check_dep 40 file_mtime 35 execute_file_commands 20
file_mtime: stat64 90
stat64: entry_SYSCALL_64_[k] 85
check_dep: update_file 35 file_mtime 40
execute_file_commands: vfork 70
vfork: entry_SYSCALL_64_[k] 95
variable_expand: variable_expand_string 80
variable_expand_string: lookup_variable 50 memmove 20
cc1: toplev_main 100
toplev_main: compile_file 96
compile_file: c_parse_file 38 finalize_compilation_unit 58
c_parse_file: c_parser_translation_unit 97
c_parser_translation_unit: c_parser_declaration 90
c_parser_declaration: c_parser_compound_statement 60 c_lex_with_flags 22 finish_decl 14
c_parser_compound_statement: c_parser_statement 70 c_parser_declaration 18
c_parser_statement: c_parser_expression 72 c_finish_if_stmt 12
c_parser_expression: c_lex_with_flags 40 build_binary_op 30 ggc_internal_alloc_[i] 18
c_lex_with_flags: cpp_get_token 84
cpp_get_token: _cpp_lex_token 70 enter_macro_context 24
_cpp_lex_token: _cpp_lex_direct 80
_cpp_lex_direct: read_file_guts 14 ht_lookup_with_hash_[i] 40
read_file_guts: read 90
read: entry_SYSCALL_64_[k] 96
finalize_compilation_unit: expand_all_functions 78 ipa_passes 20
expand_all_functions: execute_pass_list 98
ipa_passes: execute_pass_list 40 ipa_inline 45
execute_pass_list: execute_one_pass 97
execute_one_pass: rest_of_handle_ira 24 pass_cse 14 df_analyze 18 pass_fre 16 sched_rgn 12 pass_dom 10
rest_of_handle_ira: ira_build 45 ira_color 30 lra 20
ira_build: create_live_ranges 50 bitmap_ior_into_[i] 30
df_analyze: df_worklist_dataflow 70 bitmap_ior_into_[i] 22
pass_fre: do_rpo_vn 80
do_rpo_vn: visit_stmt 60 bitmap_set_bit_[i] 20
ggc_internal_alloc_[i]: asm_exc_page_fault_[k] 30
create_live_ranges: bitmap_ior_into_[i] 40 asm_exc_page_fault_[k] 10
asm_exc_page_fault_[k]: exc_page_fault_[k] 96
exc_page_fault_[k]: handle_mm_fault_[k] 82
handle_mm_fault_[k]: do_anonymous_page_[k] 72
do_anonymous_page_[k]: vma_alloc_folio_[k] 60 clear_page_erms_[k] 34
entry_SYSCALL_64_[k]: do_syscall_64_[k] 97
do_syscall_64_[k]: __x64_sys_newstat_[k] 34 ksys_read_[k] 34 __x64_sys_vfork_[k] 24
__x64_sys_newstat_[k]: vfs_statx_[k] 92
vfs_statx_[k]: filename_lookup_[k] 76
filename_lookup_[k]: link_path_walk_[k] 66 step_into_[k] 20
ksys_read_[k]: vfs_read_[k] 92
vfs_read_[k]: ext4_file_read_iter_[k] 90
ext4_file_read_iter_[k]: filemap_read_[k] 94
filemap_read_[k]: copy_page_to_iter_[k] 60 filemap_get_pages_[k] 28
__x64_sys_vfork_[k]: kernel_clone_[k] 94
kernel_clone_[k]: copy_process_[k] 70 wake_up_new_task_[k] 20
java: Thread.run_[j] 70 [libjvm.so]_[u] 24
Thread.run_[j]: Worker.process_[f] 92
Worker.process_[f]: Json.parse_[j] 50 HashMap.get_[j] 20 Regex.match_[j] 20
Json.parse_[j]: Json.readObject_[j] 76
Json.readObject_[j]: Json.readString_[j] 50 Json.parse_[j] 22 HashMap.put_[j] 20
HashMap.put_[j]: HashMap.resize_[j] 40 String.hashCode_[i] 30
[libjvm.so]_[u]: [libjvm.so]_[u] 50 madvise 20
madvise: entry_SYSCALL_64_[k] 90
`;

// Folded text of @samples; @more: other shares, by "caller callee".
function profile(samples, seed, more = {}) {
	const calls = new Map(CALLS.trim().split('\n').map(line => {
		const [name, ...words] = line.split(/:? /), callees = [];
		for (let i = 0; i < words.length; i += 2)
			callees.push([words[i], more[`${name} ${words[i]}`] ?? Number(words[i + 1])]);
		return [name, callees];
	}));
	const random = () => {
		seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
		return seed / 4294967296;
	};
	const found = new Map();
	for (let i = 0; i < samples; i++) {
		let at = random() * 100, name = at < (more.make ?? 22) ? 'make' : at < 82 ? 'cc1' : 'java';
		const stack = [name];
		for (let next = name; next && stack.length < 60;) {
			at = random() * 100;
			next = undefined;
			for (const [callee, part] of calls.get(stack.at(-1)) ?? []) {
				next = at < part && part > 0 ? callee : undefined;
				if (next)
					break;
				at -= part;
			}
			if (next)
				stack.push(next);
		}
		const key = stack.join(';');
		found.set(key, (found.get(key) ?? 0) + 1);
	}
	return [...found].sort().map(([key, count]) => `${key} ${count}\n`).join('');
}

const MODULES = {0: '[kernel]', 3: undefined, 5: undefined, 7: undefined};
function rows(texts) {
	return rows_of(texts).map(row => {
		const program = row.stack[0].name;
		for (const frame of row.stack) {
			if (frame.kind !== 7 && !frame.name.startsWith('['))
				frame.module = frame.kind in MODULES ? MODULES[frame.kind] : `[${program}]`;
			if (frame.kind === 1 && frame.module)
				Object.assign(frame, {build: '8fd6c1a80e1b2d', file: `${frame.name.split('_')[0]}.c`, line: 40 + frame.name.length,
					address: 0x401000n + BigInt(frame.name.length * 4096)});
		}
		return row;
	});
}

async function all(browser, dir) {
	const facts = [['Host', 'build7'], ['Kernel', '6.18.0'], ['Command', 'profile -F 99 --format html -- make -j2'],
		['Time', '2026-11-26 22:00:00 UTC'], ['Backend', 'bpf'], ['Unwinder', 'auto'],
		['Samples', 'taken 11,880, counted 11,868, lost 0, incomplete 0.1 %']];
	const title = 'profile -F 99 --format html -- make -j2', head = more => head_of({title, facts, ...more});
	const file = name => path.join(dir, name);
	const steps = [...Array(60).keys()].map(i => profile(Math.round(70 + 120 * (0.5 + 0.5 * Math.sin(i / 6)) + i % 5 * 4), i + 1,
		i > 35 && i < 44 ? {make: 70} : {}));
	const after = {'Json.readObject_[j] HashMap.put_[j]': 0, 'execute_one_pass df_analyze': 34, 'execute_one_pass pass_fre': 8};
	write_page(file('one.html'), encode(head({}), rows([profile(11868, 1)])), title);
	write_page(file('compare.html'), encode(head({columns: [{}, {}], before: 0, title: 'last-week.pb.gz compared with this-week.pb.gz'}),
		rows([profile(9000, 1), profile(11868, 2, after)])));
	write_page(file('times.html'), encode(head({columns: steps.map((_, i) => ({number: i + 1, seconds: 1}))}), rows(steps)), title);
	await browser.begin(1280, 860);
	const shot = async (name, page, hash = '', then = '0') => {
		await browser.visit(file(page), hash);
		await browser.run(`${then}; new Promise(done => setTimeout(done, 200))`);
		await browser.picture(file(name));
	};
	const tip = name => `select(rows.flat().filter(box => label_of(box) === '${name}').sort((x, y) => y.w - x.w)[0])`;
	await shot('light.png', 'one.html', '', tip('df_worklist_dataflow'));
	await shot('callers.png', 'one.html', '#kind=callers', tip('c_lex_with_flags'));
	await shot('search.png', 'one.html', '#query=bitmap_|page_fault$&flame=true');
	await shot('compare.png', 'compare.html', '', tip('df_analyze'));
	await shot('timeline.png', 'times.html', '#range=36,43');
	await browser.dark(true);
	await shot('dark.png', 'one.html', '', tip('filename_lookup'));
	await shot('compare-dark.png', 'compare.html', '#wide=true', tip('HashMap.put'));
	await shot('timeline-dark.png', 'times.html', '#range=36,43&base=0,35');
	await browser.run(`$('help').showPopover()`);
	await browser.picture(file('help.png'));
}

const browser = new Browser(process.argv[2]);
all(browser, process.argv[2]).catch(error => {
	console.error(error);
	process.exitCode = 1;
}).finally(() => browser.end());
