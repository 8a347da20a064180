import { isAsked, type Message, type NudgeKind } from '../message.ts';
import { markOf } from '../prefix/environment-mark.ts';
import { messagesAfter, toldIn, toldMessage } from '../prefix/open-turn.ts';
import type { Prefix } from '../prefix/prefix.ts';
import { taintIn } from '../run/approval/taint.ts';
import type { Step } from '../run/recorder.ts';
import type { RunContext } from '../run/run-context.ts';
import { askUserTool } from '../tools/person/ask-user.ts';
import { stanceOf } from './nudge-words.ts';

/** The first failure is everyday work; after another one, an earlier conversation may know the way. */
const FAILURES = 2;

interface Turn {
  prefix: Prefix;
  /** The prefix is new: the conversation begins, or goes on without what the model was shown before. */
  isNew: boolean;
  /** Memories are shown in the same step, with a hint to search for more. */
  showsMemories: boolean;
}

/**
 * A reminder to use the memory tool, appended before the next answer; undefined if there is no reason, or the last one of
 * its kind is too recent. Never in a tainted turn: outside content must not get the agent to keep something.
 */
export async function nudgeStep(run: RunContext, turn: Turn): Promise<NudgeStep | undefined> {
  const cooldownMs = run.memories.nudgeCooldownMs();
  if (cooldownMs === undefined || run.source !== 'person' || !hasMemoryTool(run, turn.prefix)) return undefined;
  const kind = reasonFor(run, turn);
  if (kind === undefined || isRecent(run, { kind, cooldownMs, prefix: turn.prefix })) return undefined;
  const { about, isLookUp } = NUDGES[kind];
  if (taintIn(run.messages) || (!isLookUp && run.settings.mode === 'read_only')) return undefined;
  if (isLookUp && !(await hasMemories(run))) return undefined;
  const text = `${NUDGES[kind].text} This is a reminder of Headgate, not a wish of the person: if nothing is worth it, go on and do not mention it.`;
  return {
    events: [{ type: 'info', message: `The model was reminded of its memory: ${about}.` }],
    messages: [toldMessage(run.messages, turn.prefix, { text, nudge: { kind, atMs: run.clock.now() } })],
  };
}

type NudgeStep = Required<Pick<Step, 'events' | 'messages'>>;

const NUDGES: Record<NudgeKind, { text: string; about: string; isLookUp: boolean }> = {
  start: {
    text: 'There are saved memories, but none resembles the message above by its words. If earlier work, preferences or decisions may matter here, search with the tool memory before you begin.',
    about: 'the conversation begins',
    isLookUp: true,
  },
  resume: {
    text: 'This conversation goes on after a pause or a cut, so you may lack what you knew before. If earlier decisions may matter for the message above, search with the tool memory.',
    about: 'the conversation goes on after a pause or a cut',
    isLookUp: true,
  },
  correction: {
    text: 'The message above seems to correct you. If it holds beyond this task, save it with the tool memory (type feedback): what to do, and why.',
    about: 'your message seems to correct it',
    isLookUp: false,
  },
  completion: {
    text: 'The task seems to be done. If you learned a decision, a preference or a fact that will matter in other conversations and that the files do not say, save it with the tool memory.',
    about: 'the task seems to be done',
    isLookUp: false,
  },
  denial: {
    text: 'The person denied a call before the message above. If the reason holds beyond this task, save it with the tool memory (type feedback).',
    about: 'a call was denied',
    isLookUp: false,
  },
  tool_error: {
    text: 'Several calls failed before the message above. An earlier conversation may have found the way: search with the tool memory before you try again.',
    about: 'several calls have failed',
    isLookUp: true,
  },
};

/** The model was offered it, and it is still there. */
const hasMemoryTool = ({ toolbox }: RunContext, { tools }: Prefix): boolean =>
  [tools, toolbox.definitions()].every((offered) => offered.some(({ name }) => name === 'memory'));

/** Only with the message that begins a run: in the middle of its work, the model is to read results, and nothing else. */
function reasonFor({ progress, messages }: RunContext, { prefix, isNew, showsMemories }: Turn): NudgeKind | undefined {
  if (progress.turns > 0) return undefined;
  const asked = messages.findLastIndex(isAsked);
  const earlier = messages.slice(0, Math.max(asked, 0));
  const message = messages[asked];
  const isFirst = !earlier.some(isEarlierWork);
  if (!isFirst && message?.role === 'user') {
    const reason = stanceOf(message.content) ?? reasonInResults(earlier);
    if (reason) return reason;
  }
  if (showsMemories) return undefined;
  if (isFirst) return 'start';
  const isOtherDay = () => toldIn(earlier, prefix).date !== toldIn(messages, prefix).date;
  return isNew || isOtherDay() ? 'resume' : undefined;
}

/** A summary stands for answers. */
const isEarlierWork = (message: Message): boolean =>
  message.role === 'assistant' || (message.role === 'user' && message.summary !== undefined);

/** Of the calls of the last run. */
function reasonInResults(earlier: readonly Message[]): NudgeKind | undefined {
  const last = earlier.slice(earlier.findLastIndex(isAsked) + 1);
  if (last.some(isDeniedCall)) return 'denial';
  return last.filter((message) => ended(message, 'failed')).length >= FAILURES ? 'tool_error' : undefined;
}

/** A question of the agent that nobody answered is none. */
const isDeniedCall = (message: Message): boolean =>
  ended(message, 'denied') && !(message.role === 'tool' && message.name === askUserTool.name);

const ended = (message: Message, outcome: 'denied' | 'failed'): boolean =>
  message.role === 'tool' && message.outcome === outcome;

/** Found in the messages, so that a restart changes nothing. A clock that was set back does not silence it for long. */
function isRecent(
  { messages, clock }: RunContext,
  { kind, cooldownMs, prefix }: { kind: NudgeKind; cooldownMs: number; prefix: Prefix },
): boolean {
  const last = messagesAfter(prefix, messages).findLast((message) => markOf(message)?.nudge?.kind === kind);
  const atMs = last && markOf(last)?.nudge?.atMs;
  return atMs !== undefined && Math.abs(clock.now() - atMs) < cooldownMs;
}

async function hasMemories(run: RunContext): Promise<boolean> {
  try {
    return await run.memories.any();
  } catch (error) {
    run.log.warn({ err: error, wsId: run.wsId }, 'memories could not be counted');
    return false;
  }
}
