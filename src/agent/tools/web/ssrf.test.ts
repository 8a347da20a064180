import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { PRIVATE_HOSTS } from './private-addresses-fixture.ts';
import { openWeb } from './web-fixture.ts';

/** Redirects to the address in the query, with characters that no header should have. */
const toRedirect: RequestListener = (request, answer) => {
  const to = new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? '';
  answer.writeHead(302, { location: Buffer.from(to).toString('latin1') }).end();
};

const redirectTo = ({ port }: { port: number }, address: string): string =>
  `http://entry.test:${port}/?to=${encodeURIComponent(address)}`;

test('120 spellings of private addresses, asked for directly and by a redirect: none is reached', async (t) => {
  await using web = await openWeb(t);
  const victim = await web.serve((_, answer) => answer.end('secret'));
  const entry = await web.serve(toRedirect);
  web.allow(`entry.test:${entry.port}`);
  const seen = new Map<string, number>();
  const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  for (const host of PRIVATE_HOSTS) {
    const address = `http://${host}:${victim.port}/`;
    count(await web.howRefused(address));
    count(await web.howRefused(redirectTo(entry, address)));
  }
  assert.ok(PRIVATE_HOSTS.length >= 120, `${PRIVATE_HOSTS.length}`);
  assert.equal(new Set(PRIVATE_HOSTS).size, PRIVATE_HOSTS.length);
  assert.equal(victim.connections(), 0);
  assert.equal(entry.connections(), PRIVATE_HOSTS.length);
  assert.equal(seen.get('read'), undefined);
});

test('with a permission for the name, redirects to private addresses are refused by their address', async (t) => {
  await using web = await openWeb(t);
  const victim = await web.serve((_, answer) => answer.end('secret'));
  const entry = await web.serve(toRedirect);
  web.allow(`entry.test:${entry.port}`);
  web.rule = () => ({ action: 'allow', ruleId: 'rule-all' });
  for (const host of PRIVATE_HOSTS) {
    const how = await web.howRefused(redirectTo(entry, `http://${host}:${victim.port}/`));
    assert.match(how, /^(address|words)$/, host);
  }
  assert.equal(victim.connections(), 0);
});

test('a name is resolved once for each connection, which goes to the address that was checked', async (t) => {
  const asked: string[] = [];
  const lookup: LookupFunction = (host, options, callback) => {
    asked.push(host);
    // The first answer is a public address of nobody (RFC 5737), every other one is this machine.
    const address = asked.length === 1 ? '192.0.2.1' : '127.0.0.1';
    if (options.all) callback(null, [{ address, family: 4 }]);
    else callback(null, address, 4);
  };
  await using web = await openWeb(t, { lookup });
  const victim = await web.serve((_, answer) => answer.end('secret'));
  const stop = AbortSignal.timeout(300);
  assert.notEqual(await web.howRefused(`http://rebinding.test:${victim.port}/`, stop), 'read');
  assert.equal(await web.howRefused(`http://rebinding.test:${victim.port}/`), 'address');
  assert.deepEqual(asked, ['rebinding.test', 'rebinding.test']);
  assert.equal(victim.connections(), 0);
});

test('other schemes, users and passwords are refused with words before anything is asked for', async (t) => {
  await using web = await openWeb(t);
  const all = [
    ...[
      'file:///etc/passwd',
      'ftp://a.test/',
      'gopher://a.test/',
      'data:text/plain,hi',
      'javascript:1',
      'ws://a.test/',
    ],
    ...[
      'http://user@127.0.0.1/',
      'http://a.test:80@127.0.0.1/',
      'http://user:password@a.test/',
      '/path',
      'http://',
      'x',
    ],
    ...['http://a.test:99999/', 'http://a b/', 'http://[::1', 'http://1.2.3.4.5/', 'http://a.test:0/'],
  ];
  for (const url of all) assert.equal(await web.howRefused(url), 'words', url);
});
