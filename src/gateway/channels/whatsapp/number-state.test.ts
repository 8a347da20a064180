import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { NumberState } from './number-state.ts';
import type { WhatsAppSettings } from './whatsapp-settings.ts';

const SETTINGS: WhatsAppSettings = {
  phoneNumberId: '555',
  accessToken: 'token',
  appSecret: 'secret',
  verifyToken: 'verify',
  template: undefined,
  apiRoot: 'http://127.0.0.1:1',
  dmPolicy: 'pairing',
  allowFrom: new Set(),
  approvers: new Set(),
  groups: new Map(),
  session: 'chat',
  ambiguous: 'once',
};

test('a number is off, lacks a variable, listens, or is refused until its token changes', async () => {
  const clock = fakeClock(1_000);
  let settings: WhatsAppSettings | undefined;
  const state = new NumberState({ settings: () => settings, clock });
  assert.deepEqual(state.report, { state: 'off', sinceMs: 1_000 });
  await clock.advance(1_000);
  settings = { ...SETTINGS, appSecret: '' };
  const why = 'The environment lacks the variable of appSecretEnv.';
  assert.deepEqual(state.report, { state: 'error', why, sinceMs: 2_000 });
  await clock.advance(1_000);
  settings = SETTINGS;
  assert.deepEqual(state.report, { state: 'listening', sinceMs: 3_000 });
  state.refused('WhatsApp does not accept the access token (190).');
  assert.deepEqual([state.report.state, state.report.why?.includes('190')], ['error', true]);
  settings = { ...SETTINGS, accessToken: 'other' };
  assert.equal(state.report.state, 'listening');
  settings = SETTINGS;
  assert.equal(state.report.state, 'error');
  state.accepted();
  assert.equal(state.report.state, 'listening');
});
