import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, afterEach, test } from 'node:test';
import { callersOf } from '../support/clients/callers.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { answers, asked, closeRegistry, ENTRY, startRegistry } from '../support/mcp/registry.ts';

const SERVERS = '/v1/api/admin/mcp-servers';
const REGISTRY = '/v1/api/admin/mcp-registry';
const servers = { fixed: { command: 'nothing', enabled: false } };
const { daemon } = await openStage({ config: { mcp: { registryUrl: await startRegistry(), servers } } });
after(closeRegistry);
const { operator } = callersOf(daemon);
afterEach(async () => {
  const { body } = await operator(`GET ${SERVERS}`);
  for (const { server_id, source } of body.servers)
    if (source === 'db') await operator(`DELETE ${SERVERS}/${server_id}`);
});
const listed = async () => (await operator(`GET ${SERVERS}`)).body.servers;
const mcp = async (...words: string[]) => {
  const { stdout, stderr } = await runHeadgate(['mcp', ...words], {
    HEADGATE_HOME: daemon.home,
    MY_TOKEN: 'hush-shell',
  });
  return `${stdout}${stderr}`;
};

test('An install from the registry must name every value that is missing, and run exactly the version of the entry', async () => {
  const { body: found } = await operator(`GET ${REGISTRY}/search?search=notes&type=npm&limit=5`);
  const [row] = found.servers;
  assert.deepEqual([found.total, found.next_cursor, row.name, row.installed], [1, 'more', ENTRY.name, false]);
  assert.match(asked.at(-1) ?? '', /^\/v0\.1\/servers\?limit=5&version=latest&search=notes$/);
  assert.equal(row.description, 'Keeps \\u001b[31mnotes.');
  assert.deepEqual(
    row.packages.map(({ problem }: { problem: string }) => problem),
    [
      '',
      'the entry names no exact version',
      '--evil is not the name of a package',
      'its entry has arguments for npx that are not supported',
      'packages of the type oci are not supported; npm and pypi are',
    ],
  );
  const install = (fields: object) =>
    operator(`POST ${REGISTRY}/install`, { registry_name: ENTRY.name, source: 'package', ...fields });
  const refusals: [object, number, RegExp][] = [
    [{ registry_name: '' }, 400, /^registry_name is required$/],
    [{ source: 'disk' }, 400, /^source must be 'remote' or 'package'$/],
    [{ index: 'first' }, 400, /^index must be an integer$/],
    [{ index: 9 }, 400, /^index must be below 5/],
    [{ index: 1 }, 400, /^the entry names no exact version$/],
    [{ variables: [] }, 400, /^variables must be an object$/],
    [{ env: 'x' }, 400, /^env must be an object$/],
    [{ headers: 5 }, 400, /^headers must be an object$/],
    [{}, 400, /^variables\.region: is missing; env\.NOTES_TOKEN \(A token\): is missing$/],
    [
      { variables: { region: 'eu', other: 'x' }, env: { NOTES_TOKEN: 'x' } },
      400,
      /^variables\.other: the server asks for no such value$/,
    ],
    [{ digest: 'a'.repeat(64), variables: { region: 'eu' }, env: { NOTES_TOKEN: 'x' } }, 409, /has changed/],
    [{ registry_name: 'io.github.ada/nobody' }, 404, /^The registry has no server io\.github\.ada\/nobody$/],
    [{ source: 'remote', index: 1 }, 400, /^the transport sse is not supported$/],
  ];
  for (const [fields, status, error] of refusals) {
    const answer = await install(fields);
    assert.equal(answer.status, status, JSON.stringify([fields, answer.body]));
    assert.match(answer.body.error, error);
  }
  assert.equal((await listed()).length, 1);
  const given = { digest: row.digest, variables: { region: 'eu' }, env: { NOTES_TOKEN: 'hush-token' } };
  const { status, body } = await install(given);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(
    [body.name, body.command, body.args, body.env, body.network, body.registry_name, body.registry_version],
    [
      'notes',
      'npx',
      '["-y","@ada/notes@1.2.3","--region","eu"]',
      '{"NOTES_TOKEN":"***"}',
      ['registry.npmjs.org'],
      ENTRY.name,
      '1.2.3',
    ],
  );
  assert.deepEqual(JSON.parse(body.registry_meta), { digest: row.digest, choice: 'package 0' });
  assert.match((await install(given)).body.error, /^Server 'notes' already exists$/);
  const remote = await install({ source: 'remote', name: 'far', variables: { token: 'hush-remote' } });
  assert.deepEqual([remote.body.url, remote.body.headers], ['https://main.example.com/mcp', '{"Authorization":"***"}']);
  const { body: again } = await operator(`GET ${REGISTRY}/search`);
  assert.deepEqual(
    [again.servers[0].installed, again.servers[0].installed_version, again.servers[0].update_available],
    [true, '1.2.3', false],
  );
  const reveal = await operator(`GET ${SERVERS}/${remote.body.server_id}?reveal=true`);
  assert.deepEqual(JSON.parse(reveal.body.headers), { Authorization: 'Bearer hush-remote' });
});

test('A registry that does not answer as it should must give 502 `Registry error: …`', async () => {
  const wrong: [(res: ServerResponse) => void, RegExp][] = [
    [(res) => res.writeHead(500).end('hush'), /^Registry error: it answered with status 500$/],
    [(res) => res.writeHead(302, { Location: 'http://169.254.169.254/' }).end(), /^Registry error: .*redirect/],
    [(res) => res.end('<html>'), /^Registry error: its answer is not JSON$/],
    [(res) => res.end('{"servers": 5}'), /^Registry error: it answered something else than a list of servers$/],
    [(res) => res.end('x'.repeat(9 * 1024 * 1024)), /^Registry error: its answer is longer than 8 MiB$/],
    [(res) => void res.destroy(), /^Registry error: /],
  ];
  for (const [answer, error] of wrong) {
    answers.push(answer);
    const { status, body } = await operator(`GET ${REGISTRY}/search`);
    assert.equal(status, 502);
    assert.match(body.error, error);
  }
  answers.push((res) => void res.end(JSON.stringify({ server: { ...ENTRY, name: 'io.github.eve/notes' } })));
  const other = await operator(`POST ${REGISTRY}/install`, { registry_name: ENTRY.name, source: 'package' });
  assert.deepEqual([other.status, other.body.error], [502, 'Registry error: it answered the entry of another server']);
  assert.equal((await operator(`GET ${REGISTRY}/search?type=deb`)).status, 400);
});

test('tool servers are added, shown, imported, installed and removed in the terminal', async () => {
  assert.match(
    await mcp('add', 'notes', '--disabled', '--env', 'MY_TOKEN', '--', 'nothing', '--fast'),
    /^Added notes\./,
  );
  assert.match(
    await mcp(),
    /^NAME +FROM +STATE +TOOLS +COMMAND OR ADDRESS\nfixed +config +disabled.*\nnotes +store +disabled +0 +nothing --fast\n/,
  );
  assert.match(
    await mcp('show', 'notes'),
    /^notes \(mcp_.*\nfrom: the database, added by operator\nstate: disabled\ncommand: nothing --fast\nvariables:\n {2}MY_TOKEN=\*\*\*\n/,
  );
  assert.match(await mcp('show', 'notes', '--reveal'), /MY_TOKEN=hush-shell/);
  assert.match(
    await mcp('search', 'notes'),
    /^io\.github\.ada\/notes 1\.2\.3\n {2}Keeps .*notes\.\n {2}sha256 [0-9a-f]{64}\n {2}--remote 0: streamable-http /,
  );
  assert.match(
    await mcp('install', ENTRY.name, '--name', 'more'),
    /variables\.region: is missing; env\.NOTES_TOKEN \(A token\): is missing/,
  );
  assert.match(
    await mcp('install', ENTRY.name, '--name', 'more', '--var', 'region=eu', '--env', 'NOTES_TOKEN=x'),
    /^Added more: npx -y @ada\/notes@1\.2\.3 --region eu\n/,
  );
  assert.match(await mcp('remove', 'more'), /^Removed more\.\n$/);
  assert.match(await mcp('remove', 'fixed'), /only in config\.json itself/);
  assert.match(await mcp('reload'), /^Nothing has changed\./);
  assert.match(
    await mcp('add', 'both', '--address', 'https://x.example', '--', 'x'),
    /either a command behind --, or an address/,
  );
  await mcp('add', 'tracker', 'https://x.example/mcp?token=hush-shell', '--disabled');
  assert.match(await mcp('show', 'tracker'), /\nurl: https:\/\/x\.example\/mcp\?token=\*\*\*\n/);
  await mcp('remove', 'tracker');
  assert.match(await mcp('add', 'both', 'https://x.example', '--', 'x'), /An address takes no arguments/);
});

test('A daemon that is killed during an install must have no part of the server, and install it then', async () => {
  const given = {
    registry_name: ENTRY.name,
    source: 'package',
    variables: { region: 'eu' },
    env: { NOTES_TOKEN: 'x' },
  };
  const waits = Promise.withResolvers<void>();
  answers.push(() => waits.resolve());
  const install = operator(`POST ${REGISTRY}/install`, given).catch(() => 'killed');
  await waits.promise;
  await daemon.kill9();
  assert.equal(await install, 'killed');
  await daemon.restart();
  assert.equal((await listed()).length, 1);
  const { status, body } = await operator(`POST ${REGISTRY}/install`, { ...given, name: 'notes' });
  assert.deepEqual([status, body.name], [200, 'notes']);
});
