import path from 'node:path';
import { systemClock } from '../../src/clock.ts';
import type { AmbiguousPolicy } from '../../src/gateway/channels/chats/chat-settings.ts';
import type { ChatEvidence, Said } from '../checker/channels/chat-evidence.ts';
import { partText } from '../checker/channels/chat-evidence.ts';
import type { Random } from '../checker/random.ts';
import { killWhileStarting } from '../drill/stillbirth.ts';
import type { SeenMessage } from '../support/channels/telegram/chat-room.ts';
import type { Person } from '../support/channels/telegram/person.ts';
import { startTelegramServer, type TelegramServer } from '../support/channels/telegram-server.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { type ChatRequest, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type Step, say, pause as wait } from '../support/model/scripted-steps.ts';
import { leftIn, readChatEvidence } from './evidence.ts';
import { chooseKill, killable } from './kills.ts';
import { Presser } from './presser.ts';
import type { ChannelScore } from './score.ts';

const TOKEN = '4242:scripted-bot-token-for-drills';
const CHATS = 20;
const FIRST_ID = 5_001;

/** What people and the settings do, besides writing. */
export interface Play {
  ambiguous: AmbiguousPolicy;
  /** Some messages make the agent ask, and people press the buttons. Some answers take long enough to be shown in progress. */
  decides: boolean;
}

interface ChapterOptions extends Play {
  name: string;
  home: string;
  kills: number;
  /** How many messages people write, besides those of the beginning and the end. */
  messages: number;
  random: Random;
  /** So far. */
  score: ChannelScore;
}

/** What a chapter consists of. */
export interface Scene {
  daemon: DaemonUnderTest;
  telegram: TelegramServer;
  people: readonly Person[];
  said: Said[];
  random: Random;
  env: Record<string, string>;
  presser: Presser | undefined;
}

/** A separate home, from the first start to rest. */
export async function playChapter(options: ChapterOptions): Promise<{ evidence: ChatEvidence; score: ChannelScore }> {
  const { home, kills, random, ambiguous, decides } = options;
  await using telegram = await startTelegramServer({ token: TOKEN });
  await using model = await startScriptedModel();
  const people = Array.from({ length: CHATS }, (_, index) =>
    telegram.person({ name: `P${index}`, id: FIRST_ID + index }),
  );
  const said: Said[] = [];
  model.onRequest((request) => stepsFor(request, said));
  const ids = people.map(({ id }) => id);
  // Half of them may only write.
  const approvers = decides ? ids.filter((_, index) => index % 2 === 0) : [];
  const settings = { botToken: TOKEN, apiRoot: telegram.apiRoot, allowFrom: ids, approvers, ambiguous };
  const env = { HOME: path.dirname(home), OPENAI_BASE_URL: model.url };
  await using daemon = await startDaemon({
    ...{ home, model: model.url, env: killable(env, random) },
    config: { channels: { telegram: settings } },
  });
  using presser = decides ? new Presser({ telegram, people, random: random.fork('presses') }) : undefined;
  const scene: Scene = { daemon, telegram, people, said, random, env, presser };
  await rehearse(scene);
  let { score } = options;
  for (let round = 0; round < kills; round += 1)
    score = await playRound({ ...scene, random: random.fork(`round ${round}`) }, { ...options, score });
  const evidence = await comeToRest(scene, { ambiguous, approvers: approvers.map(String) });
  const grown = telegram.rooms.flatMap(({ everSent }) => everSent).filter(isGrown).length;
  return { score: { ...score, grown: score.grown + grown }, evidence };
}

const isGrown = ({ text, edits }: SeenMessage): boolean => edits > 0 && text.startsWith('Answer');

/** What the rules need, whatever happens later: a lost message whose chat is told of it, and an answer in parts. */
async function rehearse(scene: Scene): Promise<void> {
  const [ada] = scene.people;
  if (!ada) throw new Error('there are no people');
  scene.telegram.faults.add('sendMessage', { kind: 'reset-after' });
  speak(scene, ada, { parts: 1 });
  await scene.telegram.call('sendMessage', 1);
  const { tag } = speak(scene, ada, { parts: 3 });
  await ada.chat.until(({ text }) => text.startsWith(partText(tag, 3)));
}

/** Somebody writes something whose answer has so many parts, perhaps after a question. */
function speak(
  { telegram, said }: Pick<Scene, 'telegram' | 'said'>,
  person: Person,
  { parts, asks = false }: { parts: number; asks?: boolean },
): Said {
  const tag = `t${said.length + 1}`;
  person.says(`please look at ${tag}`);
  const updateId = String(telegram.updates.pending.at(-1)?.update_id);
  const added = { chat: String(person.id), updateId, tag, parts, asks };
  said.push(added);
  return added;
}

/** Asks first, if it shall; then answers, sometimes slowly. */
function stepsFor({ messages }: ChatRequest, said: readonly Said[]): Step[] {
  const asked = messages.findLast(({ role, content }) => role === 'user' && /\bt\d+\b/.test(String(content)));
  const tag = [...String(asked?.content).matchAll(/\bt\d+\b/g)].at(-1)?.[0];
  const { parts = 1, asks = false } = said.find((one) => one.tag === tag) ?? {};
  if (asks && messages.at(-1)?.role === 'user')
    return [callTools({ name: 'bash', arguments: { command: `echo ${tag} | tee ${tag}.txt` } })];
  const answer = textOf(tag ?? 't0', parts);
  const isSlow = asks && Number(tag?.slice(1)) % 2 === 0;
  return isSlow ? [say(answer.slice(0, -5)), wait(SHOWN_MS), say(answer.slice(-5))] : [say(answer)];
}

/** After it, an answer in progress is shown. */
const SHOWN_MS = 1_300;

function textOf(tag: string, parts: number): string {
  const length = parts === 1 ? 10 : 3_000; // two of them do not fit into one message
  return Array.from({ length: parts }, (_, index) => `${partText(tag, index + 1)} ${'x'.repeat(length)}`).join('\n\n');
}

/** People write so many messages; some of what is sent because of them is lost, and some updates come again. */
async function writeAll(scene: Scene, count: number): Promise<void> {
  const { random, telegram, people } = scene;
  for (let index = 0; index < count; index += 1) {
    if (random.chance(0.15)) telegram.faults.add('sendMessage', random.pick(FAULTS));
    if (random.chance(0.05)) telegram.faults.add('getUpdates', { kind: random.pick(['reset-after', 'bad-gateway']) });
    if (random.chance(0.1)) telegram.updates.repeat(random.int(1, 5));
    const asks = scene.presser !== undefined && random.chance(0.4);
    speak(scene, random.pick(people), { parts: random.pick([1, 1, 1, 2, 3]), asks });
    if (random.chance(0.3)) await pause(random.int(0, 20));
  }
}

/** People write, and the daemon is killed and started again. */
async function playRound(scene: Scene, { score, kills, messages }: ChapterOptions): Promise<ChannelScore> {
  const { daemon, random } = scene;
  const mood = await chooseKill(scene, () => writeAll(scene, Math.ceil(messages / kills)));
  const left = leftIn(daemon.home);
  const killsAt = { ...score.killsAt, [mood]: score.killsAt[mood] + 1 };
  while (random.chance(0.15)) {
    await killWhileStarting(daemon, { env: scene.env, afterMs: random.int(0, 900) });
    killsAt.start += 1;
  }
  await daemon.restart({ env: killable(scene.env, random) });
  // A run that three crashes interrupt is given up, which shall happen only now and then.
  if (random.chance(0.8)) await untilQuiet(scene, 5_000);
  return {
    ...score,
    killsAt,
    kills: Object.values(killsAt).reduce((sum, count) => sum + count, 0),
    leftInbound: score.leftInbound + left.inbound,
    leftOutbound: score.leftOutbound + left.outbound,
  };
}

const FAULTS = [
  { kind: 'reset-after' },
  { kind: 'reset' },
  { kind: 'bad-gateway-after' },
  { kind: 'truncated' },
  { kind: 'limit', seconds: 1 },
  { kind: 'slow', ms: 50 },
] as const;

const PATIENCE_MS = 120_000;
const QUIET_TIMES = 5;
/** People have some seconds to press. */
const LOOKS_PER_DECISION = 40;

/** Waits until everything was handled and sent; then each chat says something more, so that it hears of what was lost. */
async function comeToRest(
  scene: Scene,
  { ambiguous: policy, approvers }: { ambiguous: AmbiguousPolicy; approvers: string[] },
): Promise<ChatEvidence> {
  const { daemon, telegram, said, people, presser } = scene;
  telegram.faults.clear();
  await untilQuiet(scene);
  for (const person of people) speak(scene, person, { parts: 1 });
  await untilQuiet(scene);
  const client = await daemon.client();
  const { parts: listed } = await client.call('channel.part.list', { limit: 500 });
  const shown = telegram.rooms.flatMap(({ id, everSent }) =>
    everSent.map(({ messageId, text }) => ({ chat: String(id), messageId: String(messageId), text })),
  );
  const { presses, operator } = presser ?? { presses: [], operator: [] };
  const mostPolls = telegram.mostAtOnce('getUpdates');
  return readChatEvidence(daemon.home, { said, shown, listed, mostPolls, policy, presses, operator, approvers });
}

/** Waits until nothing is to do. The rules report what never happens. */
async function untilQuiet({ daemon, telegram, presser }: Scene, patienceMs = PATIENCE_MS): Promise<void> {
  const client = await daemon.client();
  // Messages pass these places one after the other, so they are asked in that order.
  const isQuiet = async () => {
    if (telegram.updates.pending.length > 0) return false;
    const [received] = (await client.call('channel.list', {})).channels;
    const { workstreams } = await client.call('workstream.list', {});
    const [sent] = (await client.call('channel.list', {})).channels;
    const isIdle = workstreams.every(({ state }) => state === 'idle');
    return received?.state === 'polling' && received.backlog === 0 && isIdle && sent?.waiting === 0;
  };
  // What is told may be ahead of what is stored for a moment, and the wall clock of a machine may jump.
  const untilMs = systemClock.monotonic() + patienceMs;
  let looks = 0; // a client may not ask so often for long
  for (let quiet = 0; quiet < QUIET_TIMES && systemClock.monotonic() < untilMs; await pause(looks < 100 ? 50 : 200)) {
    quiet = (await isQuiet()) ? quiet + 1 : 0;
    if (++looks % LOOKS_PER_DECISION === 0) await presser?.decideRest(daemon);
  }
  client.close();
}
