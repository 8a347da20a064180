import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPaint } from '../terminal/paint.ts';
import { followSettings } from './chat-settings.ts';
import { IDLE_SNAPSHOT } from './idle-snapshot-fixture.ts';

test('the main workstream is called main until a person names it, and again when the name is taken back', () => {
  const settings = followSettings(
    () => undefined,
    () => ({ paint: createPaint(false), columns: 80 }),
  );
  const wsId = 'ddc5ab34';
  settings.open({ ...IDLE_SNAPSHOT, workstream: { ...IDLE_SNAPSHOT.workstream, wsId, name: 'ws-ddc5' } });
  const rename = (name: string) => {
    settings.read({ type: 'settings_changed', name, model: 'demo', model_alias: 'demo', skip_permissions: false });
    return settings.current.name;
  };
  assert.deepEqual([settings.current.name, rename('garden'), rename('ws-ddc5')], ['main', 'garden', 'main']);
});
