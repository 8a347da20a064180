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
] as const) {
  test(`--allow "${pattern}" ${expected ? 'takes' : 'refuses'} ${argv.join(' ')}`, () => {
    assert.equal(fits(pattern, ...argv), expected);
  });
}

test('a pattern has to say which program it is', () => {
  for (const text of ['', '  ', '*', '* x', 'g*t status']) assert.equal(parseArgvPattern(text), undefined, text);
});
