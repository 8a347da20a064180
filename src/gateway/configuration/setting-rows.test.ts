import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findProblem, type SettingRow, toSettingRows, toSettingValue } from './setting-rows.ts';

const schema = {
  type: 'object',
  properties: {
    session: {
      type: 'object',
      properties: {
        retentionDays: { type: 'integer', default: 30, minimum: 1, maximum: 36_500, description: 'Days.' },
      },
    },
    server: {
      type: 'object',
      properties: { allowedHosts: { type: 'array', default: [] }, port: { type: 'integer' } },
    },
    models: { type: 'object', additionalProperties: { type: 'object', properties: { apiKey: { type: 'string' } } } },
  },
};
const uiHints = { server: { restart: true }, 'models.*.apiKey': { sensitive: true } };
const rows = toSettingRows({ schema, uiHints }, ['server']);

function rowOf(key: string): SettingRow {
  return rows.find((row) => row.key === key) ?? assert.fail(`no row ${key}`);
}

test('every value of the schema is a setting, under the name of the specification where there is one', () => {
  assert.deepEqual(rows[0], {
    ...{ key: 'session.retention_days', path: ['session', 'retentionDays'], section: 'session', type: 'int' },
    ...{ description: 'Days.', default: 30, minValue: 1, maxValue: 36_500 },
    ...{ settable: true, isSecret: false, restartRequired: false },
  });
  assert.deepEqual(
    rows.map(({ key, type, section }) => [key, type, section]),
    [
      ['session.retention_days', 'int', 'session'],
      ['server.allowedHosts', 'list', 'server'],
      ['server.port', 'int', 'server'],
      ['models', 'object', 'general'],
    ],
  );
});

test('a record that holds a secret is secret as a whole, settings of the file alone are not settable, and a section that needs a restart marks all its settings', () => {
  assert.deepEqual(
    rows.map(({ key, isSecret, settable, restartRequired }) => [key, isSecret, settable, restartRequired]),
    [
      ['session.retention_days', false, true, false],
      ['server.allowedHosts', false, false, true],
      ['server.port', false, false, true],
      ['models', true, false, false],
    ],
  );
});

test('a value of another type or out of range is refused with its rule', () => {
  const days = rowOf('session.retention_days');
  assert.deepEqual(
    [0, 36_501, 1.5, '5', 5].map((value) => findProblem(days, value)),
    [
      'must not be below the minimum of 1',
      'must not be above the maximum of 36500',
      ...['must be a whole number', 'must be a whole number', undefined],
    ],
  );
  const level: SettingRow = { ...days, type: 'str', choices: ['info', 'debug'] };
  assert.deepEqual(
    [findProblem(level, 'loud'), findProblem(level, 'info'), findProblem({ ...days, type: 'bool' }, 1)],
    ['must be one of info, debug', undefined, 'must be true or false'],
  );
});

test('a list may be text with commas', () => {
  const hosts = rowOf('server.allowedHosts');
  assert.deepEqual(toSettingValue(hosts, 'a, b,'), ['a', 'b']);
  assert.deepEqual(toSettingValue(hosts, ''), []);
  assert.equal(toSettingValue(rowOf('server.port'), 'a, b'), 'a, b');
});

test('true and false beside words are choices, and may be text', () => {
  const enabled = { anyOf: [{ type: 'string', const: 'auto' }, { type: 'boolean' }], default: 'auto' };
  const [row = assert.fail()] = toSettingRows({ schema: { properties: { enabled } }, uiHints: {} });
  assert.deepEqual([row.type, row.choices], ['str', ['auto', 'true', 'false']]);
  const values = ['auto', 'true', 'false', true, false, 'on', 1].map((value) => toSettingValue(row, value));
  assert.deepEqual(values, ['auto', true, false, true, false, 'on', 1]);
  assert.deepEqual(
    values.map((value) => findProblem(row, value)),
    [...Array(5).fill(undefined), 'must be one of auto, true, false', 'must be a text'],
  );
  const plain = toSettingRows({
    schema: { properties: { any: { anyOf: [{ type: 'number' }, { type: 'boolean' }] } } },
    uiHints: {},
  });
  assert.deepEqual([plain[0]?.type, plain[0]?.choices], ['object', undefined]);
});
