import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choicesOf, planInstall } from './install-plan.ts';
import { readEntry } from './registry-entry.ts';

const NOTHING = { variables: {}, env: {}, headers: {} };

/** A package of npm whose program gets these variables. */
function entryWith(...environmentVariables: readonly object[]) {
  const transport = { type: 'stdio' };
  const one = { registryType: 'npm', identifier: 'notes', version: '1.2.3', transport, environmentVariables };
  const entry = readEntry({ name: 'io.github.ada/notes', version: '1.2.3', packages: [one] });
  assert.ok(entry);
  return entry;
}

const plan = (...variables: readonly object[]) =>
  planInstall(entryWith(...variables), { source: 'package', index: 0 }, NOTHING);

test('an entry with a variable that could make another package run is not installed', () => {
  for (const name of ['npm_config_package', 'NPM_CONFIG_REGISTRY', 'UV_INDEX', 'NODE_OPTIONS', 'PYTHONPATH', 'PATH']) {
    const entry = entryWith({ name, value: 'x' });
    const problem = `its entry sets ${name}, which could make another program run`;
    assert.equal(choicesOf(entry)[0]?.problem, problem);
    assert.throws(() => planInstall(entry, { source: 'package', index: 0 }, NOTHING), {
      code: 'INVALID_REQUEST',
      message: problem,
    });
  }
});

test('an entry with other variables is installed, also with usual ones of a language', () => {
  const names = ['NOTES_TOKEN', 'NPM_TOKEN', 'NODE_ENV', 'PYTHONUNBUFFERED', 'MY_PATH'];
  const { command, args, env } = plan(...names.map((name) => ({ name, default: 'x' })));
  assert.deepEqual([command, args], ['npx', ['-y', 'notes@1.2.3']]);
  assert.deepEqual(env, Object.fromEntries(names.map((name) => [name, 'x'])));
});
