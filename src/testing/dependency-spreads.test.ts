import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findDependencySpreads } from './dependency-spreads.ts';

const find = (source: string) => findDependencySpreads('a.ts', source);

test('a spread of dependencies or options is found by its name, wherever they are kept', () => {
  const source = `
    const open = (deps, { host, ...others }) => start({ ...deps, ...others, ...host });
    class A { #callOptions; open() { return start({ ...this.#callOptions, port: 1 }); } }`;
  assert.deepEqual(find(source), ['...deps', '...host', '...this.#callOptions']);
});

test('a spread of dependencies is found by their type, whatever their name', () => {
  const source = `
    function open(given: CallDeps, { log, ...rest }: Pick<CallDeps, 'log' | 'clock'>) {
      const made: Partial<ServerOptions> = {};
      return start({ ...given, ...rest, ...made });
    }
    class A { readonly #kept: Readonly<CallDeps>; open() { return start({ ...this.#kept }); } }`;
  assert.deepEqual(find(source), ['...given', '...rest', '...made', '...this.#kept']);
});

test('a literal that only groups fields is found', () => {
  assert.deepEqual(find('start({ ...{ clock, log }, port: 1 });'), ['...{ clock, log }']);
});

test('data, conditional fields, lists and what a function returns may be spread', () => {
  const source = `
    const open = (row: Row, fields: Intl.DateTimeFormatOptions, { id, ...radio }: Row) =>
      [...parts, { ...row, ...fields, ...radio, ...(row.id && { id }), ...toParts(row) }];`;
  assert.deepEqual(find(source), []);
});

test('a file that cannot be parsed is an error', () => {
  assert.throws(() => find('const = 1'), /^Error: a\.ts: /);
});
