import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCommand } from '../../permissions/read-command.ts';
import { decideHost } from './host-rules.ts';
import { findRegistries } from './registries.ts';

const RULES = {
  configured: ['example.com', '*.example.org', 'localhost:5432', '[fd00::1]:443', '10.0.0.7:8080'],
  registries: ['registry.npmjs.org'],
  named: ['named.example.net'],
};
const decide = (host: string, port: number) => {
  const decision = decideHost(RULES, { host, port });
  return decision.kind === 'deny' ? 'deny' : decision.mayBePrivate ? 'private' : 'public';
};

test('configured hosts are allowed with their port or the two of the web, and may be private without a wildcard', () => {
  assert.deepEqual(
    [decide('example.com', 443), decide('example.com', 80), decide('example.com', 22), decide('www.example.com', 443)],
    ['private', 'private', 'deny', 'deny'],
  );
  assert.deepEqual(
    [decide('a.b.example.org', 443), decide('example.org', 443), decide('badexample.org', 443)],
    ['public', 'deny', 'deny'],
  );
  assert.deepEqual(
    [decide('localhost', 5432), decide('localhost', 443), decide('fd00::1', 443), decide('10.0.0.7', 8080)],
    ['private', 'deny', 'private', 'private'],
  );
});

test('registries and named hosts are allowed, never with private addresses', () => {
  assert.deepEqual(
    [
      decide('registry.npmjs.org', 443),
      decide('registry.npmjs.org', 22),
      decide('named.example.net', 8443),
      decide('other.net', 443),
    ],
    ['public', 'deny', 'public', 'deny'],
  );
});

test('registries come from the files of a project and from the package managers that a command starts', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'headgate-registries-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const read = (command: string) => readCommand(command, { folder });
  assert.deepEqual(await findRegistries(read('make'), [folder]), []);
  assert.ok((await findRegistries(read('cd sub && npm ci'), [folder])).includes('registry.npmjs.org'));
  for (const name of ['Cargo.toml', 'requirements-dev.txt']) await writeFile(join(folder, name), '');
  const found = await findRegistries(read('make'), [folder, join(folder, 'missing')]);
  assert.deepEqual(
    ['static.crates.io', 'files.pythonhosted.org', 'registry.npmjs.org'].map((host) => found.includes(host)),
    [true, true, false],
  );
});
