import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { parse, type SyntaxNode } from 'unbash';

/**
 * Collects the commands that documentation shows, and those of scripts: `node e2e/effects/corpora/collect.ts FOLDER`.
 * Each subfolder of FOLDER is an unpacked Debian package (`dpkg-deb -x`); manual pages, info pages and maintainer
 * scripts are those of this machine, and the scripts and readmes of npm packages those of node_modules. Prints lines
 * with the source and the command. See README.md.
 */
const [folder = '.'] = process.argv.slice(2);
const found = new Map<string, string>();

const read = (file: string): string =>
  file.endsWith('.gz') ? gunzipSync(readFileSync(file)).toString() : readFileSync(file, 'utf8');

function* filesIn(start: string, pattern: RegExp): Generator<string> {
  for (const entry of readdirSync(start, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile() && pattern.test(file) && statSync(file).size < 4_000_000) yield file;
  }
}

/** Notes a line as a command, unless it is a template, prose, or more than one line. */
function note(text: string, source: string): void {
  const command = text.replace(/\s+#\s.*$/, '').trim();
  if (command.length < 2 || command.length > 200 || found.has(command) || /[^\x20-\x7e]/.test(command)) return;
  if (/\.\.\.|…|<[a-z][\w -]*>|\\$|^[[\]{}()|&;#-]|^[A-Z][a-z]+ /.test(command)) return;
  const script = parse(command);
  if ((script.errors ?? []).length > 0 || script.commands.length === 0) return;
  const first = firstName(script.commands[0]?.command);
  if (first === undefined || !/^[a-z\d_./[][\w./+-]*$/.test(first)) return;
  found.set(command, source);
}

function firstName(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === 'Command') return node.name?.value;
  if (node?.type === 'Pipeline' || node?.type === 'AndOr') return firstName(node.commands[0]);
  return node?.type === 'For' || node?.type === 'While' || node?.type === 'If' ? 'for' : undefined;
}

/** Lines behind a prompt. */
function notePrompts(text: string, source: string): void {
  for (const [, command = ''] of text.matchAll(/^\s*(?:[\w@~-]*[$#]|%) ([^\n]+)$/gm)) note(command, source);
}

const plain = (html: string): string =>
  html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&amp;', '&');

for (const name of readdirSync(folder)) {
  for (const file of filesIn(path.join(folder, name), /en.*\.html$|\.html$/)) {
    if (/\/(?:[a-z]{2}-[A-Z]{2}|[a-z]{2})\//.test(file) && !/\/en(-US)?\//.test(file)) continue;
    const html = read(file);
    for (const [, code = ''] of html.matchAll(/<strong class="userinput"><code>([\s\S]*?)<\/code>/g))
      note(plain(code), name);
    for (const [, block = ''] of html.matchAll(/<pre[^>]*>([\s\S]*?)<\/pre>/g)) notePrompts(plain(block), name);
  }
  for (const file of filesIn(path.join(folder, name), /\.txt(\.gz)?$/)) notePrompts(read(file), name);
}

/** The package of a file of this machine. */
const PAGES =
  /^(find|xargs|grep|sed|sort|cut|tr|head|tail|wc|uniq|comm|join|paste|ls|du|df|stat|file|date|diff|cmp|patch|tar|gzip|bzip2|xz|zip|unzip|curl|wget|rsync|scp|ssh|jq|rg|ps|pgrep|kill|xxd|hexdump|column|git.*|mawk|env|timeout|nice|seq|split|tee|touch|chmod|chown|cp|mv|rm|mkdir|ln|install|dd|shuf|od|base64|bc|less|man|strace|lsof|flock|watch|top|free|dpkg.*|apt.*|openssl.*|python3.*|perlrun|perlfaq.*|npm.*|make|gdb|strings|nm|objdump|ldd|getent|id|test|expr|printf|echo|bash|getopt|logger|mount|lsblk|findmnt|nsenter|unshare|script|rename|rev|whereis|setsid|taskset)\.1/;
const SECTION = /^EXAMPLES?$[\s\S]*?(?=^[A-Z])/gm;
for (const name of readdirSync('/usr/share/man/man1').filter((each) => PAGES.test(each))) {
  const program = name.replace(/\..*/, '').replace(/^git-/, 'git ');
  const page = execFileSync(
    'man',
    ['-P', 'cat', '--nh', '--nj', '-E', 'ascii', path.join('/usr/share/man/man1', name)],
    {
      env: { ...process.env, MANWIDTH: '400', LC_ALL: 'C' },
      encoding: 'utf8',
    },
  ).replaceAll(new RegExp(`.${String.fromCharCode(8)}`, 'g'), '');
  notePrompts(page, `man ${program}`);
  for (const [section] of page.matchAll(SECTION))
    for (const line of section.split('\n')) if (line.trim().startsWith(`${program} `)) note(line, `man ${program}`);
}
for (const name of [
  'coreutils',
  'find',
  'find.info-1',
  'find.info-2',
  'grep',
  'sed',
  'diffutils',
  'gzip',
  'wget',
  'time',
])
  for (const file of filesIn('/usr/share/info', new RegExp(`/${name.replaceAll('.', '\\.')}(\\.info)?\\.gz$`))) {
    const text = read(file);
    notePrompts(text, `info ${name.replace(/\..*/, '')}`);
    for (const [, line = ''] of text.matchAll(
      /^ {5}((?:find|grep|sed|ls|sort|cut|tr|head|tail|wc|uniq|du|df|date|diff|xargs|seq|printf|cat|cp|mv|rm|tar|awk) [^\n]+)$/gm,
    ))
      note(line, `info ${name.replace(/\..*/, '')}`);
  }
for (const file of filesIn('/var/lib/dpkg/info', /\.(postinst|prerm|postrm|preinst)$/))
  noteScript(read(file), `dpkg ${path.parse(file).name}`);
for (const file of filesIn('node_modules', /\/(package\.json|readme(\.\w+)?\.md)$/i)) {
  const name = `npm ${/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1]}`;
  if (file.endsWith('.json')) notePackage(read(file), name);
  else
    for (const [, block = ''] of read(file).matchAll(/```(?:sh|bash|shell|console)\n([\s\S]*?)```/g))
      for (const line of block.split('\n')) note(line.replace(/^\s*\$ /, ''), name);
}

/** The lines of a script that are whole commands by themselves. */
function noteScript(text: string, source: string): void {
  for (const line of text.split('\n'))
    if (!/^\s*(#|fi|done|esac|else|\w+=|set |if |case |for |while |exit|return)/.test(line)) note(line, source);
}

function notePackage(text: string, source: string): void {
  try {
    const { scripts = {} } = JSON.parse(text) as { scripts?: Record<string, unknown> };
    for (const each of Object.values(scripts)) if (typeof each === 'string') note(each, source);
  } catch {
    // a fixture that is no JSON
  }
}

const rows = [...found].map(([command, source]) => `${source}\t${command}`).toSorted((a, b) => (a < b ? -1 : 1));
writeFileSync(1, `${rows.join('\n')}\n`);
