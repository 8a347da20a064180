import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { needs } from '../../src/testing/needs.ts';
import { startTelegramServer, type TelegramServer } from '../support/channels/telegram-server.ts';
import { type CheckedClient, openChecked } from '../support/clients/checked-client.ts';
import { type ClockedDaemon, startClockedDaemon } from '../support/daemon/clocked-daemon.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import type { Kind } from '../support/views/ways.ts';
import { fill, PASSWORD } from './fill.ts';
import { fillMore } from './fill-more.ts';

const BOT_TOKEN = '4242:scripted-bot-token-for-tests';

/** A daemon whose views have something to show, and one without anything. */
export interface ViewStage extends AsyncDisposable {
  /** A daemon as views need it. What only some of them show is added, or started, when it is first asked for. */
  daemonOf(kind: Kind): Promise<ClockedDaemon>;
  /** Whether git is installed. */
  hasGit: boolean;
  /** Texts that differ between two runs, and what pictures have instead. */
  varying: readonly (readonly [string, string])[];
}

export interface FillStage {
  daemon: ClockedDaemon;
  model: ScriptedModel;
  telegram: TelegramServer;
  hasGit: boolean;
  /** The project that conversations are about. */
  folder: string;
  operator: CheckedClient;
  /** What is closed with the stage. */
  opened: AsyncDisposableStack;
  /** The person whom the pictures show. */
  ada: CheckedClient;
}

/** Both daemons, in this process. Their clocks stand still, so that ages and dates are the same in every run. */
export async function openViewStage(): Promise<ViewStage> {
  const opened = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-views-'));
  opened.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await writeProject(folder);
  const model = await startScriptedModel();
  opened.defer(() => model.close());
  const telegram = opened.use(await startTelegramServer({ token: BOT_TOKEN }));
  const bot = { botToken: BOT_TOKEN, apiRoot: telegram.apiRoot, streaming: 'off' };
  const price = { input: 3, output: 15, cacheRead: 0.3 };
  const lab = { provider: 'openai-compatible', baseUrl: model.url, model: 'scripted', price };
  const budgets = { day: { usd: 20 } };
  const options = { environment: {}, replace: { bwrap: { kind: 'missing' as const } } };
  const full = opened.use(
    await startClockedDaemon(
      { models: { lab, small: { ...lab, model: 'small' } }, defaultModel: 'lab', budgets, channels: { telegram: bot } },
      options,
    ),
  );
  const empty = opened.use(await startClockedDaemon({}, { ...options, environment: { HEADGATE_MODEL: 'demo' } }));
  const operator = await openChecked(full);
  opened.defer(() => operator.socket.terminate());
  const ada = await openChecked(full, { token: await tokenOfAda(operator) });
  opened.defer(() => ada.socket.terminate());
  const hasGit = (await needs('git')).skip === undefined;
  const filled = { daemon: full, model, telegram, hasGit, folder, operator, ada, opened };
  await fill(filled);
  const homes = [full, empty].map(({ home }) => [path.dirname(home), '/home/ada'] satisfies [string, string]);
  const varying: [string, string][] = [
    [folder, '/home/ada/garden'],
    ...homes,
    ...[full, empty].map(({ port }) => [`:${port}`, ':7717'] satisfies [string, string]),
    [`:${new URL(model.url).port}`, ':8080'],
  ];
  const open: Record<Kind, () => Promise<ClockedDaemon>> = {
    full: async () => full,
    empty: async () => empty,
    async more() {
      await fillMore(filled);
      return full;
    },
    async accounts() {
      const { startAccounts } = await import('./fill-accounts.ts'); // its provider takes a second to load
      const accounts = await startAccounts(opened);
      varying.push(...accounts.varying);
      return accounts.daemon;
    },
  };
  const asked = new Map<Kind, Promise<ClockedDaemon>>();
  return {
    daemonOf(kind) {
      const daemon = asked.get(kind) ?? open[kind]();
      asked.set(kind, daemon);
      return daemon;
    },
    hasGit,
    varying,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function tokenOfAda(operator: CheckedClient): Promise<string> {
  for (const [username, displayName, role] of [
    ['ada', 'Ada Lovelace', 'builtin-admin'],
    ['grace', 'Grace Hopper', 'builtin-operator'],
    ['lin', 'Lin Chen', 'builtin-viewer'],
  ] as const)
    await operator.ask('user.create', { username, displayName, password: PASSWORD, roles: [role] });
  const { users } = await operator.ask('user.list', { query: 'ada' });
  const { token } = await operator.ask('user.token.create', {
    userId: users[0]?.userId ?? '',
    name: 'laptop',
  });
  return token;
}

const PROJECT: Record<string, string> = {
  'README.md': '# Garden\n\nWhen does each plant need water?\n',
  'package.json': '{ "type": "module" }\n',
  'src/watering.js': `/** Days until a plant needs water. */
export function daysUntilWater({ wateredOn, everyDays }, today) {
  const passed = Math.floor((today - wateredOn) / 86_400_000);
  return everyDays - passed;
}
`,
  'src/watering.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daysUntilWater } from './watering.js';

const plant = { wateredOn: 0, everyDays: 3 };
test('a plant that was just watered waits its whole time', () => assert.equal(daysUntilWater(plant, 0), 3));
`,
};

async function writeProject(folder: string): Promise<void> {
  for (const name of ['src', 'docs']) await mkdir(path.join(folder, name));
  for (const [name, text] of Object.entries(PROJECT)) await writeFile(path.join(folder, name), text);
}
