import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

// `node e2e/outputs/collect.ts > e2e/outputs/corpora/collected.txt`: excerpts of what tools print on this machine. A hash of
// the name decides which files are taken, so nobody chooses them. Most excerpts lie around a word or a text that resembles a
// secret. The guard is not used.

interface Source {
  what: string;
  lines: readonly string[];
}

const RESEMBLES = /key|token|secret|passw|credential|auth|[A-Za-z0-9+/]{32,}/i;
const AROUND = 6;
const LONGEST_LINE = 400;
const LONGEST = 900;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const byHash = (names: readonly string[]): string[] => names.toSorted((a, b) => (hashOf(a) < hashOf(b) ? -1 : 1));

const print = (program: string, ...args: string[]): string[] => {
  const { stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    env: { ...process.env, LC_ALL: 'C.UTF-8', MANWIDTH: '100' },
  });
  return (stdout ?? '').split('\n');
};

/** The first `count` files, by hash, that have enough text. */
function files(
  pattern: string,
  { count, like = () => true }: { count: number; like?(file: string): boolean },
): Source[] {
  const found: Source[] = [];
  for (const file of byHash(globSync(pattern).filter(like))) {
    if (found.length === count) break;
    if (!statSync(file).isFile()) continue;
    const text = readFileSync(file, 'utf8');
    if (text.length > 200 && !text.includes('\0') && !text.includes('\ufffd'))
      found.push({ what: `cat ${file.replace(/^node_modules\//, 'npm:')}`, lines: text.split('\n') });
  }
  return found;
}

const manuals = (count: number): Source[] =>
  byHash(globSync('/usr/share/man/man[15678]/*.gz'))
    .slice(0, count)
    .map((file) => {
      const [, name = '', section = ''] = /([^/]+)\.(\d\w*)\.gz$/.exec(file) ?? [];
      return { what: `man ${section} ${name}`, lines: print('man', '-P', 'cat', section, name) };
    });

const COMMANDS: readonly (readonly string[])[] = [
  ['git', 'log', '-12', '--no-merges', '--format=%H %s'],
  ['git', 'ls-files', '-s', 'src/agent'],
  ['git', 'log', '-3', '-p', '--format=%h', '--', 'src/gateway/auth'],
  ['git', 'diff', '--stat', 'HEAD~30', 'HEAD'],
  ['git', 'grep', '-n', 'token', '--', 'src/cli'],
  ['git', 'grep', '-n', '-i', 'secret', '--', 'docs'],
  ['git', 'grep', '-n', 'password', '--', 'src/page'],
  ['git', 'help', '-a'],
  ['sha256sum', 'package.json', 'package-lock.json', 'README.md'],
  ['md5sum', 'package.json', 'biome.json'],
  ['openssl', 'x509', '-in', '/etc/ssl/certs/ISRG_Root_X1.pem', '-text', '-noout'],
  ['cat', '/etc/ssl/certs/ISRG_Root_X1.pem'],
  ['openssl', 'list', '-cipher-algorithms'],
  ['openssl', 'help', 'enc'],
  ['curl', '--help', 'all'],
  ['kubectl', 'create', 'secret', 'docker-registry', '--help'],
  ['kubectl', 'config', 'set-credentials', '--help'],
  ['docker', 'login', '--help'],
  ['gpg', '--list-packets', '/usr/share/keyrings/debian-archive-keyring.gpg'],
  ['gpg', '--show-keys', '/usr/share/keyrings/debian-archive-keyring.gpg'],
  ['apt-cache', 'show', 'pass'],
  ['dpkg', '-s', 'openssl'],
  ['dpkg', '-L', 'gnupg'],
  ['npm', 'ls', '--all'],
  ['npm', 'help', 'token'],
  ['node', '--help'],
  ['npm', 'pack', '--dry-run'],
  ['base64', '/usr/share/pixmaps/debian-logo.png'],
  ['cat', 'package-lock.json'],
  ['file', '/usr/bin/openssl', '/bin/ls', '/usr/lib/x86_64-linux-gnu/libcrypto.so.3'],
  ['ldd', '/usr/bin/openssl'],
  ['strings', '/usr/bin/ssh-keygen'],
  ['xxd', '/bin/true'],
  ['nm', '-D', '/usr/lib/x86_64-linux-gnu/libcrypto.so.3'],
  ['locale', '-a'],
  ['getent', 'services'],
  ['jq', '--help'],
  ['ssh', '-Q', 'key'],
  ['python3', '-m', 'pydoc', 'hashlib'],
  ['python3', '-m', 'pydoc', 'secrets'],
  ['perl', '-V'],
];

/** What is printed around a line that resembles a secret, or else around any line. */
function excerpt({ what, lines }: Source): string | undefined {
  const candidates = lines.flatMap((line, index) => (RESEMBLES.test(line) ? [index] : []));
  const pick = Number.parseInt(hashOf(what).slice(0, 8), 16);
  const centre = candidates[pick % Math.max(1, candidates.length)] ?? pick % lines.length;
  const around = lines.slice(Math.max(0, centre - AROUND), centre + AROUND + 1);
  const text = around
    .map((line) => cutAround(line))
    .join('\n')
    .replace(/^\n+|\s+$/g, '');
  return text.length < 80 ? undefined : text.slice(0, LONGEST);
}

/** The part of a long line that resembles a secret. */
function cutAround(line: string): string {
  if (line.length <= LONGEST_LINE) return line;
  const at = RESEMBLES.exec(line)?.index ?? 0;
  const from = Math.max(0, at - LONGEST_LINE / 2);
  return line.slice(from, from + LONGEST_LINE);
}

const sources: Source[] = [
  ...COMMANDS.map((words) => ({ what: words.join(' '), lines: print(words[0] ?? '', ...words.slice(1)) })),
  ...manuals(40),
  ...files('node_modules/**/README.md', { count: 25 }),
  ...files('node_modules/**/*.{js,cjs,mjs}', { count: 40 }),
  ...files('node_modules/**/*.min.js', { count: 3 }),
  ...files('node_modules/**/*.d.ts', { count: 15 }),
  ...files('node_modules/**/package.json', { count: 10 }),
  ...files('/usr/share/doc/**/*', {
    count: 25,
    like: (file) => !/\.(gz|png|pdf|html|css)$/.test(file) && path.extname(file) !== '',
  }),
  ...files('/usr/lib/python3/**/*.py', { count: 10 }),
  ...files('/etc/*.{conf,cfg,default}', { count: 10 }),
  ...files('src/**/*.ts', { count: 12, like: (file) => !file.includes('agent/guard') }),
  ...files('{docs/*,*.md}', { count: 8 }),
];
const hidden = /[^\t\n\x20-\x7e\u00a1-\uffff]/;
const seen = new Set<string>();
for (const source of sources) {
  if (seen.has(source.what)) continue;
  seen.add(source.what);
  const text = excerpt(source);
  if (text !== undefined && !hidden.test(text))
    process.stdout.write(`@@@@ harmless real none | ${source.what}\n${text}\n`);
}
