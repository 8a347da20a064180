import type { Result } from '../../protocol/index.ts';
import type { StreamEvent } from '../../protocol/stream-events.ts';
import { systemClock } from '../../src/clock.ts';
import type { CallParams } from '../checker/evidence.ts';
import type { Random } from '../checker/random.ts';
import type { CallWish, RecordedCall } from '../checker/recording/record-call.ts';
import type { RecordedSocket } from '../checker/recording/record-socket.ts';
import type { Recorder } from '../checker/recording/recorder.ts';
import { pause } from '../support/deadline.ts';
import { setBudget } from './budgeting.ts';
import { closeChildren, decideForChildren } from './leading.ts';
import { changeRules, finerParts, learnRules, noRules, type RuleKnowledge } from './ruling.ts';

/** A client that works in one workstream: sends, decides, cancels, and repeats unanswered calls. */
export interface Actor {
  /** Acts until the signal, or until the daemon dies. */
  act(random: Random, signal: AbortSignal): Promise<void>;
  /** Ends all runs. */
  finish(random: Random): Promise<void>;
  close(): void;
}

interface ActorParts {
  wsId: string;
  recorder: Recorder;
  /** It is a coordinator, whose children ask, too. */
  isLead: boolean;
  /** Some messages have no key, so they are never repeated. */
  forgetsKeys?: boolean | undefined;
  /** A new, unused word. */
  next(): string;
}

/** The state of the workstream according to its events. */
interface Knowledge {
  busy: boolean;
  pending: Set<string>;
  /** Questions about budgets that nobody answers soon; some expire before. */
  left: Set<string>;
  /** Those of them that are over. */
  late: string[];
  autoApprove: boolean;
  rules: RuleKnowledge;
}

interface Scene {
  parts: ActorParts;
  socket: RecordedSocket;
  known: Knowledge;
  random: Random;
  /** Calls with a key, which may be repeated. */
  keyed: RecordedCall[];
}

export function createActor(parts: ActorParts): Actor {
  const { wsId, recorder } = parts;
  const known: Knowledge = {
    busy: false,
    pending: new Set(),
    left: new Set(),
    late: [],
    autoApprove: false,
    rules: noRules(),
  };
  let place: string | undefined;
  let socket: RecordedSocket | undefined;
  let keyed: RecordedCall[] = [];

  const open = async (random: Random): Promise<Scene | undefined> => {
    const opened = recorder.socket({
      reader: `actor of ${wsId}`,
      onEvent({ event, payload }) {
        if (event !== 'workstream') return;
        place = Object(payload).cursor;
        learn(known, Object(payload).event, random);
      },
    });
    socket = opened;
    if (!(await opened.connected)) return undefined;
    opened.request('events.subscribe', { wsId, ...(place !== undefined && { after: place }) }, ({ ok, payload }) => {
      if (ok) place = Object(payload).cursor; // refused while the database is away
    });
    await lookWhatWaits(opened);
    return { parts, socket: opened, known, random, keyed };
  };

  /** If a decision was lost, the approval is pending again. */
  const lookWhatWaits = async (on: RecordedSocket) => {
    const { promise: listed, resolve } = Promise.withResolvers<void>();
    on.request('approval.list', { wsId }, ({ payload }) => {
      known.pending = new Set(approvalIdsIn(payload).filter((id) => !known.left.has(id)));
      resolve();
    });
    await Promise.race([listed, on.ended]);
  };

  return {
    async act(random, signal) {
      const scene = await open(random);
      if (!scene) return;
      for (const call of keyed.filter(isWorthRepeating(random))) repeat(scene, call);
      while (!signal.aborted && scene.socket.history.isOpen) {
        const call = doSomething(scene);
        if (random.chance(0.8)) await call?.answered;
        await systemClock.sleep(random.int(0, 90), signal).catch(() => undefined);
      }
      await scene.socket.ended;
      keyed = keyed.slice(-12); // the others were repeated often enough
    },
    async finish(random) {
      socket?.close(); // of an attempt before: it would hear more after the next one has asked where to go on
      const scene = await open(random);
      if (!scene) throw new Error('the daemon is gone');
      await Promise.all([...keyed].map((call) => repeat(scene, call).answered));
      for (let turn = 0; turn < 8; turn += 1) {
        for (const approvalId of [...known.pending, ...known.left]) await decide(scene, approvalId).answered;
        await pause(random.int(20, 80));
        await lookWhatWaits(scene.socket);
      }
      if (parts.isLead) await closeChildren(leadOf(scene));
      await cancelWatches(scene);
      await callAny(scene, { method: 'workstream.cancel', params: { wsId } }).answered;
      keyed = [];
    },
    close: () => socket?.close(),
  };
}

const leadOf = ({ parts: { wsId, recorder }, socket, random }: Scene) => ({ wsId, recorder, socket, random });

/** Ends what would begin further runs. */
async function cancelWatches({ parts: { wsId }, socket }: Scene): Promise<void> {
  const { promise: listed, resolve } = Promise.withResolvers<void>();
  socket.request('watch.list', { wsId }, ({ payload }) => {
    for (const { watch_id: watchId } of (payload as Result<'watch.list'> | undefined)?.watches ?? [])
      socket.request('watch.cancel', { watchId });
    resolve();
  });
  await Promise.race([listed, socket.ended]);
}

/** By the method's contract. */
const approvalIdsIn = (payload: unknown): string[] =>
  (payload as Result<'approval.list'> | undefined)?.approvals.map(({ approvalId }) => approvalId) ?? [];

function learn(known: Knowledge, event: StreamEvent, random: Random): void {
  learnRules(known.rules, event);
  if (event.type === 'user_turn') known.busy = true;
  if (event.type === 'approve_request') {
    const isLeft = event.kind === 'budget' && random.chance(0.25);
    known[isLeft ? 'left' : 'pending'].add(event.approval_id);
  }
  if (event.type === 'approval_resolved') {
    known.pending.delete(event.approval_id);
    if (known.left.delete(event.approval_id)) known.late.push(event.approval_id);
  }
  if (event.type === 'settings_changed') known.autoApprove = event.skip_permissions;
  if (event.type !== 'ws_state' || !event.run) return;
  known.busy = false;
  known.pending.clear(); // an abandoned run leaves its approval pending
  known.late.push(...known.left);
  known.left.clear();
}

/** Always repeats lost calls, and sometimes answered ones. */
const isWorthRepeating = (random: Random) => (call: RecordedCall) =>
  call.history.answers.length === 0 || random.chance(0.2);

function doSomething(scene: Scene): RecordedCall | undefined {
  if (scene.random.chance(0.04)) cancelAgent(scene);
  if (scene.parts.isLead && scene.random.chance(0.3)) decideForChildren(leadOf(scene));
  const isLeftAlone = scene.known.left.size > 0 && scene.random.chance(0.96);
  return isLeftAlone ? undefined : act(scene);
}

function act(scene: Scene): RecordedCall | undefined {
  const { random, known, parts } = scene;
  const { wsId } = parts;
  const approvalId = toDecide(scene);
  const mood = random.fraction();
  if (known.autoApprove && random.chance(0.3)) scene.socket.request('workstream.update', { wsId, autoApprove: false });
  if (random.chance(0.04)) changeRules(known.rules, wsId, { socket: scene.socket, random });
  if (random.chance(0.04)) void setBudget({ ...parts, socket: scene.socket, random });
  if (mood < 0.06) return callAny(scene, { method: 'workstream.cancel', params: { wsId } });
  if (mood < 0.09) return callAny(scene, { method: 'workstream.cancel', params: { wsId, force: true } });
  if (approvalId !== undefined && mood < 0.85) return decide(scene, approvalId);
  if (!known.busy && mood > 0.6) return takeBack(scene);
  return known.busy && mood < 0.75 ? steerOrWait(scene) : send(scene);
}

/** Stops one sub-agent, and not its run. */
function cancelAgent({ parts: { wsId }, socket, random }: Scene): void {
  socket.request('subagent.list', { wsId }, ({ payload, ok }) => {
    const agents = ok ? (payload as Result<'subagent.list'>).agents : []; // by the method's contract
    const running = agents.filter(({ state }) => state !== 'ended');
    if (running.length === 0) return;
    socket.request('subagent.cancel', { wsId, agentId: random.pick(running).agent_id });
  });
}

/** A pending approval, or one that was left alone for long, perhaps too long. */
function toDecide({ known: { late, left, pending }, random }: Scene): string | undefined {
  if (random.chance(0.01)) return late.pop() ?? [...left][0];
  return [...pending][0];
}

/** Takes turns back, asks again, or has the conversation summarized. Refused while a run is in progress. */
function takeBack(scene: Scene): RecordedCall {
  const { random, parts } = scene;
  const { wsId, next } = parts;
  const mood = random.fraction();
  if (mood < 0.35) return callAny(scene, { method: 'workstream.command', params: { wsId, command: '/compact' } });
  const idempotencyKey = `key-${next()}`;
  const wish: CallWish =
    mood < 0.7
      ? { method: 'workstream.retry', params: { wsId, idempotencyKey } }
      : { method: 'workstream.rewind', params: { wsId, turns: random.int(1, 3), idempotencyKey } };
  const call = callAny(scene, wish);
  scene.keyed.push(call);
  return call;
}

const SENDS = ['workstream.send', 'workstream.send', 'agent', 'chat.send'] as const;

function send(scene: Scene): RecordedCall {
  const { wsId, next } = scene.parts;
  const word = next();
  const rest = scene.random.chance(0.3) ? ' and so on'.repeat(60) : ''; // long enough to be summarized
  const message = `message ${word}${rest}`;
  if (scene.parts.forgetsKeys && scene.random.chance(0.3))
    return callAny(scene, { method: 'workstream.send', params: { wsId, message } });
  const params = { wsId, message, idempotencyKey: `key-${word}` };
  const call = callAny(scene, { method: scene.random.pick(SENDS), params });
  scene.keyed.push(call);
  return call;
}

const steerOrWait = (scene: Scene) => (scene.random.chance(0.5) ? steer(scene) : undefined);

/** A message for the run in progress, at once or after it has waited. */
function steer(scene: Scene): RecordedCall {
  const { parts, random, socket } = scene;
  const { wsId, next } = parts;
  const word = next();
  const how = random.chance(0.7) ? { steer: true } : { queue: true };
  const params = { wsId, message: `steer ${word}`, idempotencyKey: `key-${word}`, ...how };
  const call = parts.recorder.call({ method: 'workstream.send', params }, socket);
  scene.keyed.push(call);
  if (how.queue) void call.answered.then((answer) => steerWaiting(scene, Object(answer?.payload).runId));
  return call;
}

function steerWaiting({ parts: { recorder, wsId }, socket }: Scene, runId: unknown): void {
  if (typeof runId === 'string') recorder.call({ method: 'queue.steer', params: { wsId, runId } }, socket);
}

function repeat(scene: Scene, { history: { method, params } }: RecordedCall): RecordedCall {
  const call = callAny(scene, { method: method as CallWish['method'], params }); // it was made by `callAny`
  if (params.idempotencyKey !== undefined) scene.keyed.push(call);
  return call;
}

function decide(scene: Scene, approvalId: string): RecordedCall {
  const { random, known, parts } = scene;
  const decideIt = (params: Partial<CallParams> & { always?: boolean }) =>
    callAny(scene, {
      method: random.pick(['workstream.approve', 'approval.resolve']),
      params: { wsId: parts.wsId, approvalId, ...params },
    });
  known.pending.delete(approvalId);
  known.left.delete(approvalId);
  const mood = random.fraction();
  if (mood < 0.4) return decideIt({ approved: true });
  if (mood < 0.55) return decideIt({ approved: true, ...finerParts(known.rules, approvalId, random) });
  if (mood < 0.6) return decideIt({ approved: true, feedback: 'and mind the gap' });
  if (mood < 0.65) return decideIt({ approved: true, always: true });
  if (mood < 0.75) return decideIt({ approved: false });
  if (mood < 0.88) return decideIt({ approved: false, feedback: `not like this (${parts.next()})` });
  // Two concurrent, contradictory decisions.
  decideIt({ approved: false, feedback: 'no' });
  return decideIt({ approved: true });
}

/** Over HTTP or the socket, chosen at random. */
function callAny({ parts, socket, random }: Scene, wish: CallWish): RecordedCall {
  const { steer: steers, queue: waits } = wish.params;
  const isForHttp = ['workstream.send', 'workstream.approve', 'workstream.cancel'].includes(wish.method);
  const isHttp = isForHttp && !steers && !waits; // HTTP has neither
  return parts.recorder.call(wish, isHttp && random.chance(0.5) ? undefined : socket);
}
