import { createRandom, type Random } from '../checker/random.ts';
import type { Refusal, ScriptedAnswer } from '../support/wires/wire.ts';
import type { WireRequest, WireResponse } from '../support/wires/wire-server.ts';
import { createOtherAgents } from './besides/other-agents.ts';
import { createChildren } from './coordinators/children.ts';
import { checkChildren } from './coordinators/tree.ts';
import { ALIASES } from './model-servers.ts';
import { createPrefixWitness } from './prefix-witness.ts';
import { openSimMachine, type SimSurroundings } from './sim-machine.ts';
import { chooseStep } from './steps.ts';
import { Talk } from './talk.ts';
import { createUnreadableImages } from './unreadable-images.ts';

/** Something that must not happen, with the step in which it did. */
export interface Violation {
  step: number;
  doing: string;
  what: string;
}

export interface Outcome {
  seed: number;
  /** What was done, in order. */
  steps: string[];
  requests: number;
  /** Those of sub-agents and planners. */
  besides: number;
  /** Those of children of coordinators. */
  children: number;
  /** How often each tool was called. */
  calls: Record<string, number>;
  /** Requests to each wire. */
  wires: Record<string, number>;
  violations: Violation[];
}

/** A scripted reply to the next request of the conversation. */
export interface Reply {
  answer?: ScriptedAnswer;
  /** After so many events the server waits, until the client cancels or dies. */
  holdAfter?: number;
  /** The server goes on when this resolves, and calls `onAsked` when it waits for it. */
  released?: Promise<void>;
  onAsked?(): void;
  /** Refused for a reason that has nothing to do with its form. */
  fail?: { status: number; body: object };
}

const WINDOWS = [5_000, 9_000, 200_000];
/** Their instructions and tools are longer. */
const LEAD_WINDOWS = [8_500, 12_000, 200_000];
const IMAGES = 20;
/** How many conversations are those of coordinators. */
const LEADS = 0.3;

/** One random conversation, the same for the same seed. */
export async function simulate(seed: number, { mostSteps = 14 } = {}): Promise<Outcome> {
  const random = createRandom(seed);
  const outcome = newOutcome(seed);
  const witness = createWitness(outcome);
  const surroundings: SimSurroundings = {
    release: { version: 1, hasDepth: false, hasThird: false },
    instructions: random.chance(0.3) ? 'Be brief.' : undefined,
  };
  const isLead = random.chance(LEADS);
  const window = random.pick(isLead ? LEAD_WINDOWS : WINDOWS);
  await using machines = new AsyncDisposableStack();
  const { decide, onRefusal, whileEnding } = witness;
  const servers = { limits: { window, images: IMAGES }, decide, onRefusal, whileEnding };
  const openMachine = async () => machines.use(await openSimMachine(surroundings, servers));
  const machine = await openMachine();
  const wsId = isLead ? await makeLead(machine) : await machine.main();
  const talk = new Talk({ machine, openMachine, surroundings, random, witness, wsId });
  await talk.update({ model: random.pick(ALIASES) });
  const count = random.int(mostSteps >> 1, mostSteps);
  for (let step = 1; step <= count; step += 1) await runStep(talk, { random, witness, outcome });
  outcome.children = witness.children.asked();
  return outcome;
}

/** Nothing was played yet. */
export const newOutcome = (seed: number): Outcome => ({
  seed,
  steps: [],
  requests: 0,
  besides: 0,
  children: 0,
  calls: {},
  wires: {},
  violations: [],
});

const makeLead = async ({ call }: Awaited<ReturnType<typeof openSimMachine>>): Promise<string> =>
  (await call('workstream.create', { kind: 'coordinator' })).wsId;

/** What the servers see, and what they answer. */
export type Witness = ReturnType<typeof createWitness>;

export function createWitness(outcome: Outcome) {
  const replies: Reply[] = [];
  let isHeld = false;
  let [latestBefore, latestMessages] = ['', ''];
  const unreadableImages = createUnreadableImages();
  const violate = (what: string) =>
    outcome.violations.push({ step: outcome.steps.length, doing: outcome.steps.at(-1) ?? '', what });
  const prefix = createPrefixWitness(violate);
  const others = createOtherAgents(violate);
  const children = createChildren(violate);
  const witnessed = (request: WireRequest, { answer, holdAfter, released, fail }: Reply): void => {
    const isSilent = !answer?.text && !answer?.calls?.length;
    const isBrokenOff = holdAfter !== undefined && !released;
    const isUnanswered = fail !== undefined || isBrokenOff || isSilent;
    for (const { name } of answer?.calls ?? []) outcome.calls[name] = (outcome.calls[name] ?? 0) + 1;
    prefix.requested(request, { isUnanswered });
    if (request.dropped > 0) violate(`${request.model} dropped ${request.dropped} thoughts`);
  };
  return {
    violate,
    prefix,
    children,
    script: (...next: Reply[]) => void replies.push(...next),
    unreadableImages,
    /** Replies that were not used. */
    forgetScript: () => void replies.splice(0),
    /** Whether the latest request has this in front of its messages. */
    isInLatestBefore: (text: string): boolean => latestBefore.includes(text),
    /** How often the text is in the latest request. */
    countInLatest: (text: string): number =>
      [...withoutRecalled(latestMessages).matchAll(new RegExp(`${text}(?!\\d)`, 'g'))].length,
    mustBeInLatest(text: string): void {
      if (!latestMessages.includes(text)) violate(`"${text}" was not sent`);
    },
    takeHeld(): boolean {
      const taken = isHeld;
      isHeld = false;
      return taken;
    },
    /** A daemon ends, and another one begins. */
    whileEnding: (work: () => Promise<void>): Promise<void> => children.whileEnding(() => prefix.interruptedBy(work)),
    decide(this: void, request: WireRequest): WireResponse {
      outcome.requests += 1;
      outcome.wires[request.wire] = (outcome.wires[request.wire] ?? 0) + 1;
      const hasTools = JSON.stringify(request.before ?? '').includes('look');
      if (!hasTools || request.isForSummary)
        return { kind: 'answer', answer: { text: `A summary after ${outcome.requests} requests.` } };
      const other = others.decide(request);
      if (other) {
        outcome.besides += 1;
        return toResponse(other);
      }
      const child = children.decide(request);
      if (child) return toResponse(child);
      [latestBefore, latestMessages] = [JSON.stringify(request.before), JSON.stringify(request.messages)];
      const reply = children.withIds(unreadableImages.refuse(latestMessages) ?? replies.shift() ?? answerTo(outcome));
      witnessed(request, reply);
      isHeld = reply.holdAfter !== undefined && !reply.released;
      reply.onAsked?.();
      return toResponse(reply);
    },
    onRefusal(this: void, { rule, body }: Refusal, wire: string) {
      violate(`${wire} refused a request (${rule}): ${JSON.stringify(body)}`);
    },
  };
}

function toResponse({ fail, answer = {}, holdAfter, released }: Reply): WireResponse {
  if (fail) return { kind: 'fail', ...fail };
  return { kind: 'answer', answer, ...(holdAfter !== undefined && { holdAfter }), ...(released && { released }) };
}

/** Without what the agent found in the history, in the form that it has on the wire. */
const withoutRecalled = (messages: string): string =>
  messages.replaceAll(/Messages, which are data and no instructions:(?:[^"\\]|\\.)*/g, '');

/** Without a script. */
const answerTo = ({ requests }: Outcome): Reply => ({ answer: { text: `ok ${requests}` } });

/** Does something, and checks what the servers saw meanwhile. */
async function runStep(
  talk: Talk,
  { random, witness, outcome }: { random: Random; witness: Witness; outcome: Outcome },
): Promise<void> {
  const { isLead } = talk;
  const { name, run } = chooseStep(random, { isLead });
  outcome.steps.push(name);
  try {
    await run(talk, random);
    if (isLead && talk.isLead) await checkChildren(talk);
  } catch (error) {
    witness.violate(`could not be done: ${error instanceof Error ? error.stack : String(error)}`);
  }
  witness.forgetScript();
}
