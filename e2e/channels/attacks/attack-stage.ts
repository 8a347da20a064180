import type { Update } from '@grammyjs/types';
import { createGatewayClient, type GatewayClient } from '../../../protocol/client/ws-client.ts';
import { fakeClock } from '../../../src/testing/fake-clock.ts';
import { readRows } from '../../support/channels/stored-rows.ts';
import type { Person } from '../../support/channels/telegram/person.ts';
import type { SendPace } from '../../support/channels/telegram/send-limits.ts';
import { startTelegramServer, type TelegramServer } from '../../support/channels/telegram-server.ts';
import { startClockedDaemon } from '../../support/daemon/clocked-daemon.ts';
import { pause, within } from '../../support/deadline.ts';
import type { ChatRequest } from '../../support/model/scripted-model.ts';
import { startScriptedModel } from '../../support/model/scripted-model.ts';
import { type Step, say } from '../../support/model/scripted-steps.ts';

const NOON_MS = Date.UTC(2030, 0, 1, 12);
const TOKEN = '4242:scripted-bot-token-for-tests';

/** The people of the attacks. */
export const PEOPLE = {
  /** May write and decide. */
  ada: 101,
  /** May write. */
  bob: 102,
  /** May decide, but not write. */
  max: 103,
  /** May write in direct chats only. */
  dan: 104,
  /** Was allowed by everything, and revoked. */
  rex: 105,
  /** A stranger. */
  eve: 666,
} as const;

/** A group in which Ada and Bob may write. */
export const GROUP_ID = -1_001_000_000_001;

export const SETTINGS = {
  dmPolicy: 'pairing',
  allowFrom: [PEOPLE.ada, PEOPLE.bob, PEOPLE.dan, PEOPLE.rex] as readonly (number | string)[],
  approvers: [PEOPLE.ada, PEOPLE.max, PEOPLE.rex] as number[],
  groups: { [GROUP_ID]: { allowFrom: [PEOPLE.ada, PEOPLE.bob, PEOPLE.rex] } } as Record<string, object>,
};

/** What the model answers to words with this text, and then to the results of its calls. */
interface Script {
  text: string;
  answer: Step;
  after: Step;
}

function answerTo(request: ChatRequest, scripts: readonly Script[]): Step {
  const script = scripts.find(({ text }) => wordsIn(request).includes(text));
  if (!script) return say('Taken.');
  return request.messages.at(-1)?.role === 'tool' ? script.after : script.answer;
}

export type AttackStage = Awaited<ReturnType<typeof openAttackStage>>;

/** A daemon in this process with a bot, a model that answers everything, and updates that wait for `daemon.start`. */
export async function openAttackStage(
  changed: Partial<typeof SETTINGS> & { ambiguous?: 'once' | 'retry' } = {},
  { pace }: { pace?: SendPace } = {},
) {
  const clock = fakeClock(NOON_MS);
  const telegram = await startTelegramServer({ token: TOKEN, clock, ...(pace && { pace }) });
  const model = await startScriptedModel();
  const scripts: Script[] = [];
  model.onRequest((request) => answerTo(request, scripts));
  const settings = { ...SETTINGS, ...changed };
  const person = (name: string, id: number, username?: string) =>
    telegram.person({ name, id, ...(username !== undefined && { username }) });
  const group = telegram.group({ title: 'Team' });
  if (group.id !== GROUP_ID) throw new Error(`the group is ${group.id}`);
  const config = { channels: { telegram: { botToken: TOKEN, apiRoot: telegram.apiRoot, ...settings } } };
  let client: GatewayClient | undefined;
  let daemon: Awaited<ReturnType<typeof startClockedDaemon>> | undefined;
  return {
    ...{ telegram, model, group, scripts, clock },
    people: {
      ada: person('Ada', PEOPLE.ada, 'ada'),
      bob: person('Bob', PEOPLE.bob),
      max: person('Max', PEOPLE.max),
      dan: person('Dan', PEOPLE.dan),
      rex: person('Rex', PEOPLE.rex),
      eve: person('Eve', PEOPLE.eve),
    },
    get daemon() {
      if (!daemon) throw new Error('the daemon has not been started');
      return daemon;
    },
    async start() {
      daemon = await startClockedDaemon(config, { environment: { OPENAI_BASE_URL: model.url }, clock });
      const { url, token } = daemon;
      client = createGatewayClient({
        url: url.replace('http', 'ws'),
        token,
        client: { name: 'e2e', version: '1', mode: 'test' },
      });
      await client.connect();
      return client;
    },
    async [Symbol.asyncDispose]() {
      client?.close();
      await daemon?.[Symbol.asyncDispose]();
      await telegram[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

/** Adds something that the server's people cannot do, and returns its number. */
export function deliver({ updates }: Pick<TelegramServer, 'updates'>, content: object): number {
  const added = updates.add(content as Omit<Update, 'update_id'>);
  if (!added) throw new Error(`the bot does not ask for ${Object.keys(content)}`);
  return added.update_id;
}

/** The number of the newest update. */
export const lastUpdate = ({ updates }: Pick<TelegramServer, 'updates'>): number =>
  updates.pending.at(-1)?.update_id ?? 0;

/** A message as Telegram sends it; `changes` make it odd. */
export const messageOf = (by: Person, text: string, changes: object = {}) => ({
  message: { message_id: 900_000, date: 1_790_000_000, chat: by.chat.chat, from: by.user, text, ...changes },
});

/** Resolves once every update was acknowledged and handled. */
export async function untilRead(stage: Pick<AttackStage, 'telegram' | 'daemon'>): Promise<void> {
  await stage.telegram.untilAcknowledged();
  await until(stage, ({ inbox }) => inbox.every(({ state }) => state !== 'waiting'));
}

/** The same, and everything was sent that can be sent now. */
export async function untilSent(stage: Pick<AttackStage, 'telegram' | 'daemon'>): Promise<void> {
  await untilHandled(stage);
  await untilDelivered(stage);
}

/** What was accepted for sending has been sent, or given up; runs may be open. */
export async function untilDelivered(stage: Pick<AttackStage, 'daemon'>): Promise<void> {
  await until(stage, ({ outbox }) => outbox.every(({ status }) => status !== 'pending'));
}

/** The same as `untilRead`, and all runs have ended. */
export async function untilHandled(stage: Pick<AttackStage, 'telegram' | 'daemon'>): Promise<void> {
  await untilRead(stage);
  await until(stage, ({ openRuns }) => openRuns === 0);
}

/** Lets time pass until this is true, in steps that are shorter than any wait of the daemon. */
export async function elapse({ clock }: Pick<AttackStage, 'clock'>, holds: () => boolean, stepMs = 100): Promise<void> {
  const pass = async () => {
    while (!holds()) {
      await clock.advance(stepMs);
      await pause(2);
    }
  };
  await within(pass(), 60_000, () => `that ${holds}`);
}

/** Nothing outside the database tells the end of an update that is answered with silence. */
async function until(
  { daemon }: Pick<AttackStage, 'daemon'>,
  holds: (rows: ReturnType<typeof readRows>) => boolean,
): Promise<void> {
  const wait = async () => {
    while (!holds(readRows(daemon.home))) await pause(20);
  };
  await within(wait(), 60_000, () => `a state of ${JSON.stringify(readRows(daemon.home).inbox.slice(-5))}`);
}

/** The last words of somebody in a request to the model. */
export const wordsIn = ({ messages }: ChatRequest): string => {
  const last = messages.findLast(
    ({ role, content }) => role === 'user' && !String(content).startsWith('<environment>'),
  );
  return typeof last?.content === 'string' ? last.content : JSON.stringify(last?.content ?? '');
};
