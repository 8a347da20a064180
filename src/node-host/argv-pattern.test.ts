import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArgvPattern } from './argv-pattern.ts';

const fits = (pattern: string, ...argv: string[]) => parseArgvPattern(pattern)?.fits(argv);

for (const [pattern, argv, expected] of [
  ['git status', ['git', 'status'], true],
  ['git status', ['git', 'status', '-s'], false],
  ['git status', ['git'], false],
  ['git status', ['/usr/bin/git', 'status'], false],
  ['git *', ['git'], true],
  ['git *', ['git', 'push', '--force'], true],
  ['git log *', ['git', 'push'], false],
  ['cat /srv/*', ['cat', '/srv/a/b'], true],
  ['cat /srv/*', ['cat', '/srv/../etc/passwd'], false],
  ['cat /srv/*', ['cat', '/srv/a', '/etc/passwd'], false],
  ['systemctl restart web-*', ['systemctl', 'restart', 'web-1'], true],
  ['systemctl restart web-*', ['systemctl', 'restart', 'db', 'web-1'], false],
  ['  uptime  ', ['uptime'], true],
  ['cat *.txt', ['cat', 'notes.txt'], true],
  ['cat *.txt', ['cat', '/etc/x.txt'], false],
  ['cat *.txt', ['cat', '../x.txt'], false],
  ['cat *.txt', ['cat', 'sub/x.txt'], false],
  ['cat *.txt', ['cat', './x.txt'], false],
  ['cat *.txt', ['cat', '.x.txt'], false],
  ['cat *.txt', ['cat', '--foo=x.txt'], false],
  ['cat *.txt', ['cat', '-x.txt'], false],
  ['cat *.txt', ['cat', '@x.txt'], false],
  ['cat *.txt', ['cat', 'a.txt\n/etc/x.txt'], false],
  ['scp *.txt backup:', ['scp', 'other:x.txt', 'backup:'], false],
  ['dd *.img', ['dd', 'of=x.img'], false],
  ['cat */x.txt', ['cat', '/etc/x.txt'], false],
  ['cat */x.txt', ['cat', 'a/x.txt'], true],
  ['cat src/*', ['cat', 'src/a/b'], true],
  ['cat src/*', ['cat', 'src/a/../../../etc/passwd'], false],
  ['cat /var/log/*', ['cat', '/var/log/10:00.log'], true],
  ['git log --author=*', ['git', 'log', '--author=ada'], true],
  ['git log --author=*', ['git', 'log', '--output=ada'], false],
  ['tar --file=*', ['tar', '--file=/etc/x'], false],
  ['git * status', ['git', '--exec-path=x', 'status'], false],
  ['git * status', ['git', '-c', 'status'], false],
] as const) {
  test(`--allow "${pattern}" ${expected ? 'takes' : 'refuses'} ${argv.join(' ')}`, () => {
    assert.equal(fits(pattern, ...argv), expected);
  });
}

test('a pattern has to name its program', () => {
  for (const text of ['', '  ', '*', '* x', 'g*t status']) assert.equal(parseArgvPattern(text), undefined, text);
});
