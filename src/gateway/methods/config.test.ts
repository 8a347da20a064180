import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Statement } from '../store/store.ts';
import { callerOf } from '../testing/whole-gateway.ts';
import { configMethods } from './config.ts';

const change = (changed: string[]) => ({
  path: 'config.json',
  config: {},
  issues: [],
  changed,
  applied: [],
  restart: [],
});

/** The methods over a file in which every write changes these keys. */
function setUp(changed: string[]) {
  const refused = () => assert.fail('not asked for');
  const details: unknown[] = [];
  const methods = configMethods({
    configFile: {
      ...{ read: refused, schema: refused, digests: refused, overrides: new Map(), fileOnly: [] },
      write: async () => change(changed),
      patch: async () => change(changed),
      reload: async () => ({ applied: changed, restart: ['otel.endpoint'] }),
    },
    affected: {
      cron: { scheduler: { look: () => undefined } },
      channels: { look: () => undefined },
      workstreams: { trim: async () => undefined },
    },
    store: { commit: async () => undefined as never },
  });
  const call = {
    ...callerOf(),
    ...{
      kept: undefined,
      keep: () => [],
      momentary: () => undefined,
      interim: () => undefined,
      perform: async () => undefined,
    },
    audited: (detail: unknown): Statement[] => {
      details.push(detail);
      return [];
    },
  };
  return { methods, call, details };
}

test('the record of a changed configuration names the keys, without their values', async () => {
  const { methods, call, details } = setUp(['approvalTimeoutSecs']);
  await methods['config.set']({ raw: '{"approvalTimeoutSecs":9}' }, call);
  await methods['config.patch']({ raw: '{"approvalTimeoutSecs":9}', baseHash: 'h' }, call);
  await methods['config.reload']({}, call);
  const named = { changed: ['approvalTimeoutSecs'] };
  assert.deepEqual(details, [named, named, { changed: ['approvalTimeoutSecs', 'otel.endpoint'] }]);
});

test('of very many or very long keys the record has the beginning and a count', async () => {
  const { methods, call, details } = setUp(
    Array.from({ length: 60 }, (_, index) => `models.${index}`.padEnd(500, 'x')),
  );
  await methods['config.set']({ raw: '{}' }, call);
  const [{ changed, more }] = details as [{ changed: string[]; more: number }];
  assert.deepEqual([changed.length, changed[0]?.length, more], [50, 128, 10]);
});
