import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../../../protocol/errors.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createDaemonSettings } from './daemon-settings.ts';
import type { Overrides } from './setting-rows.ts';

const schema = {
  properties: {
    session: { properties: { retentionDays: { type: 'integer', default: 30, minimum: 1 } } },
    server: { properties: { publicUrl: { type: 'string' }, port: { type: 'integer', default: 7717 } } },
    models: { type: 'object' },
    channels: { properties: { command: { type: 'array' } } },
  },
};
const uiHints = { server: { restart: true }, 'models.*.apiKey': { sensitive: true } };

interface Given {
  parsed?: object;
  overrides?: Overrides;
  refuse?: GatewayError;
}

/** Settings over a file that is read as `parsed`. */
function setUp({ parsed = {}, overrides = new Map(), refuse }: Given = {}) {
  const written: unknown[] = [];
  const settings = createDaemonSettings({
    configFile: {
      overrides,
      fileOnly: [],
      schema: () => ({ schema, uiHints }),
      read: async () => ({
        parsed,
        config: { session: { retentionDays: 30 }, ...parsed },
        valid: true,
        issues: [],
        hash: 'h',
      }),
      async write(raw, hash) {
        if (refuse) throw refuse;
        written.push([JSON.parse(raw), hash]);
        return { config: JSON.parse(raw), applied: [] };
      },
      digests: async () => (path) => `digest of ${path.join('.')}`,
    },
    trail: { list: async () => ({ events: [], total: 0 }) },
    clock: fakeClock(7),
  });
  return { settings, written };
}

const valuesOf = async ({ settings }: ReturnType<typeof setUp>) =>
  (await settings.list()).map(({ key, value, source }) => [key, value, source]);

test('a flag wins over the file, and the file over the default', async () => {
  const overrides: Overrides = new Map([['server.port', { value: 1, source: 'flag' }]]);
  assert.deepEqual(
    await valuesOf(setUp({ parsed: { session: { retentionDays: 7 }, server: { port: 2 } }, overrides })),
    [
      ['session.retention_days', 7, 'storage'],
      ['server.publicUrl', null, 'default'],
      ['server.port', 1, 'flag'],
      ['models', null, 'default'],
      ['channels.command', null, 'default'],
    ],
  );
});

test('a masked address and a section with secrets are shown as three asterisks', async () => {
  const parsed = { server: { publicUrl: '<secret:server.publicUrl>' }, models: { a: {} } };
  const values = await valuesOf(setUp({ parsed }));
  assert.deepEqual(values[1], ['server.publicUrl', '***', 'storage']);
  assert.deepEqual(values[3], ['models', '***', 'storage']);
});

test('a change writes the rest of the file as it was read, under the hash of that reading', async () => {
  const { settings, written } = setUp({ parsed: { models: { a: { apiKey: '<secret:models.a.apiKey>' } } } });
  const { result } = await settings.set('server.port', 8000, 'ada');
  assert.deepEqual(written, [[{ models: { a: { apiKey: '<secret:models.a.apiKey>' } }, server: { port: 8000 } }, 'h']]);
  assert.deepEqual([result.value, result.changedBy, result.updatedAtMs], [8000, 'ada', 7]);
});

test('a hidden value that is saved as it was shown is kept', async () => {
  const parsed = {
    server: { publicUrl: '<secret:server.publicUrl>' },
    channels: { command: ['whisper', '<secret:channels.command.1>'] },
  };
  const { settings, written } = setUp({ parsed });
  for (const value of ['***', ['***']]) await settings.set('channels.command', value, 'ada');
  await settings.set('server.publicUrl', '***', 'ada');
  assert.deepEqual(written, [
    [parsed, 'h'],
    [parsed, 'h'],
    [parsed, 'h'],
  ]);
});

test('a mask that stands for no stored value is refused', async () => {
  const { settings, written } = setUp({
    parsed: { channels: { command: ['whisper', '<secret:channels.command.1>'] } },
  });
  for (const [key, value] of [
    ['channels.command', 'whisper,***'],
    ['server.publicUrl', '***'],
    ['server.port', '***'],
  ] as const)
    await assert.rejects(settings.set(key, value, 'ada'), {
      code: 'INVALID_REQUEST',
      message: `${key}: *** stands for no stored value here; write the whole value itself`,
    });
  assert.deepEqual(written, []);
});

test('a reset removes a section that it empties, and keeps the others', async () => {
  const { settings, written } = setUp({ parsed: { server: { port: 1 }, session: { retentionDays: 7 } } });
  await settings.reset('server.port');
  assert.deepEqual(written, [[{ session: { retentionDays: 7 } }, 'h']]);
});

test('the key of config.json is accepted, too', async () => {
  const { settings, written } = setUp();
  assert.equal((await settings.set('session.retentionDays', 3, '')).result.key, 'session.retention_days');
  assert.deepEqual(written, [[{ session: { retentionDays: 3 } }, 'h']]);
});

test('a refusal of the file keeps its message', async () => {
  const refuse = new GatewayError('CONFLICT', 'config changed since last load', { details: { issues: [] } });
  const { settings } = setUp({ refuse });
  await assert.rejects(settings.set('session.retentionDays', 3, ''), {
    ...{ code: 'CONFLICT', message: 'config changed since last load', details: undefined },
  });
});
