import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Connection } from '../../egress/proxy/egress-proxy.ts';
import corpus from '../permissions/corpus/commands.json' with { type: 'json' };
import { isHarmless } from '../permissions/harmless.ts';
import { readCommand } from '../permissions/read-command.ts';
import type { HostRule } from '../permissions/rules/host-rule.ts';
import { holdFolder } from '../tools/files/held-folder.ts';
import { mayUseNetwork, mayWrite, openCommandNetwork } from './command-network.ts';

const read = (command: string) => readCommand(command, { folder: '/w' });

test('only a command whose reading is complete does without a network, or without writable roots', () => {
  const seen = [
    ...['ls -la', 'cat a | grep b', 'touch a', 'curl https://example.com', './script', '$PROGRAM x'],
    ...['ls *.md', 'git status', 'hostname -f', 'cat "$FILE"', 'tee out/*', 'curl "$URL"', 'ls $X'],
  ].map((command) => [command, mayUseNetwork(read(command)), mayWrite(read(command))]);
  assert.deepEqual(seen, [
    ['ls -la', false, false],
    ['cat a | grep b', false, false],
    ['touch a', false, true],
    ['curl https://example.com', true, false],
    ['./script', true, true],
    ['$PROGRAM x', true, true],
    ['ls *.md', false, false],
    ['git status', false, false],
    ['hostname -f', false, false],
    ['cat "$FILE"', false, false],
    ['tee out/*', false, true],
    ['curl "$URL"', true, true],
    ['ls $X', false, false],
  ]);
});

test('a command reaches the hosts that it names, and what it did not reach is told once', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'headgate-network-'));
  await using folder = await holdFolder(path);
  t.after(() => rm(path, { recursive: true, force: true }));
  const told: Connection[] = [];
  const network = await openCommandNetwork(
    read('curl https://example.com/a http://[2001:db8::1]:8080/ $MORE'),
    { folder, readable: [] },
    {
      allowedHosts: () => ['localhost:5432'],
      granted: [],
      ruleOn: () => undefined,
      onConnection: (connection) => told.push(connection),
    },
  );
  const kinds = [
    { host: 'example.com', port: 8443 },
    { host: 'localhost', port: 5432 },
    { host: 'registry.npmjs.org', port: 443 },
    { host: 'other.example', port: 443 },
  ].map((target) => network.decide(target).kind);
  assert.deepEqual(kinds, ['allow', 'allow', 'deny', 'deny']);
  for (const outcome of ['refused', 'refused', 'connected', 'address'] as const)
    network.onConnection({ host: 'other.example', port: 443, outcome });
  assert.deepEqual(
    told.map(({ outcome }) => outcome),
    ['refused', 'connected', 'address'],
  );
  assert.deepEqual(network.refused(), [{ host: 'other.example', port: 443, reason: 'address' }]);
});

test('rules are asked at each connection; one that denies stands above what the command names, and above the settings', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'headgate-network-'));
  await using folder = await holdFolder(path);
  t.after(() => rm(path, { recursive: true, force: true }));
  const rules = new Map<string, HostRule>();
  const network = await openCommandNetwork(
    read('curl https://named.example; npm ci'),
    { folder, readable: [] },
    {
      allowedHosts: () => ['set.example', 'localhost:5432'],
      granted: ['granted.example'],
      ruleOn: (host) => rules.get(host),
    },
  );
  const decide = (host: string, port = 443) => {
    const decision = network.decide({ host, port });
    return decision.kind === 'deny' ? (decision.rule ?? 'no') : decision.mayBePrivate ? 'private' : 'public';
  };
  const hosts = ['named.example', 'granted.example', 'registry.npmjs.org', 'set.example', 'ruled.example'];
  assert.deepEqual(
    hosts.map((host) => decide(host)),
    ['public', 'public', 'public', 'private', 'no'],
  );
  rules.set('ruled.example', { action: 'allow', ruleId: 'r' });
  assert.equal(decide('ruled.example', 8443), 'public', 'never with a private address');
  for (const host of hosts) rules.set(host, { action: 'deny', ruleId: `no ${host}` });
  assert.deepEqual(
    hosts.map((host) => decide(host)),
    hosts.map((host) => `no ${host}`),
  );
  for (const host of hosts) rules.set(host, { action: 'ask', ruleId: 'ask' });
  assert.deepEqual(
    hosts.map((host) => decide(host)),
    ['public', 'public', 'no', 'no', 'no'],
    'a person has seen the first two',
  );
  rules.set('127.0.0.1', { action: 'deny', ruleId: 'mine' });
  assert.equal(decide('localhost', 5432), 'mine', 'all names of this machine');
  network.onConnection({ host: 'set.example', port: 443, outcome: 'refused', rule: 'r' });
  network.onConnection({ host: 'late.example', port: 443, outcome: 'refused' });
  network.onConnection({ host: 'late.example', port: 443, outcome: 'connected' });
  assert.deepEqual(network.refused(), [{ host: 'set.example', port: 443, reason: 'rule', rule_id: 'r' }]);
});

test('what runs unasked as harmless gets neither a network nor writable roots', () => {
  const commands = Object.keys(corpus).filter((command) => isHarmless(read(command), { roots: ['/w'] }));
  assert.ok(commands.length > 100);
  assert.deepEqual(
    commands.filter((command) => mayUseNetwork(read(command)) || mayWrite(read(command))),
    [],
  );
});
