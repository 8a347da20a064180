import type { StreamEventOf } from '../../../../protocol/stream-events.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Block, NoteBlock } from '../conversation/blocks.ts';
import { toLength } from '../text/moment.ts';
import { CHILD_WORDS, type Child, type Children, withChild } from './children.ts';

type Call = StreamEventOf<'wait_started' | 'wait_progress' | 'wait_ended' | 'batch_started' | 'batch_ended'>;
/** An event of a coordinator about its children. */
type Coordination = Call | StreamEventOf<'child_ws_created' | 'child_ws_state' | 'child_ws_closed' | 'child_ws_rename'>;

/** The conversation of a coordinator after an event about its children: they are known, and a quiet line says what happened. */
export function foldCoordination(
  { blocks, children }: { blocks: readonly Block[]; children: Children },
  event: Coordination,
  key: string,
): { blocks: readonly Block[]; children: Children } {
  const line = (about: string, text: string): NoteBlock => ({ kind: 'note', key, level: 'quiet', about, text });
  if (!('child_ws_id' in event))
    return { children, blocks: putCall(blocks, line(`call ${event.call_id}`, callWords(event))) };
  const next = withChild(children, event);
  const child = next.all.find(({ wsId }) => wsId === event.child_ws_id);
  const text = child && childWords(child, event);
  if (text === undefined) return { blocks, children: next };
  return { children: next, blocks: putChild(blocks, line(`child ${event.child_ws_id}`, text)) };
}

const isQuiet = (block: Block | undefined): block is NoteBlock => block?.kind === 'note' && block.level === 'quiet';

/** A call has one line, which changes. */
function putCall(blocks: readonly Block[], line: NoteBlock): readonly Block[] {
  const at = blocks.findLastIndex((block) => isQuiet(block) && block.about === line.about);
  return put(blocks, at, line);
}

/** A child has one line among those at the end, so that many that work at once stay readable. */
function putChild(blocks: readonly Block[], line: NoteBlock): readonly Block[] {
  for (let at = blocks.length - 1; at >= 0; at -= 1) {
    const block = blocks[at];
    if (!isQuiet(block)) break;
    if (block.about === line.about) return put(blocks, at, line);
  }
  return [...blocks, line];
}

function put(blocks: readonly Block[], at: number, line: NoteBlock): readonly Block[] {
  const before = blocks[at];
  if (!isQuiet(before)) return [...blocks, line];
  return before.text === line.text ? blocks : blocks.with(at, { ...line, key: before.key });
}

/** Undefined for nothing that a person would miss. */
function childWords(child: Child, event: { type: string }): string | undefined {
  const name = `“${toVisibleLine(child.name || child.wsId.slice(0, 8))}”`;
  if (event.type === 'child_ws_created') return `${name} works for it`;
  if (event.type === 'child_ws_closed') return `${name}: closed`;
  return event.type === 'child_ws_rename' ? undefined : `${name}: ${CHILD_WORDS[child.state]}`;
}

function callWords(event: Call): string {
  switch (event.type) {
    case 'wait_started':
      return `Waits for ${workstreams(event.ws_ids.length)}${event.mode === 'any' && event.ws_ids.length > 1 ? ', until one is done' : ''}, at most ${toLength(event.timeout_secs * 1_000)}`;
    case 'wait_progress':
      return `Waits for ${workstreams(event.ws_ids.length)}: ${doneIn(event)} done`;
    case 'wait_ended':
      return `Waited ${toLength(Math.round(event.elapsed * 1_000))} for ${workstreams(event.ws_ids.length)}: ${doneIn(event)} done`;
    case 'batch_started':
      return `${event.op === 'spawn_batch' ? 'Makes' : 'Closes'} ${workstreams(event.total)}…`;
    case 'batch_ended':
      return batchWords(event);
  }
}

const doneIn = ({ results }: StreamEventOf<'wait_progress' | 'wait_ended'>): number =>
  Object.values(results).filter(({ state }) => state === 'idle' || state === 'error').length;

function batchWords({
  op,
  total,
  succeeded = 0,
  denied = 0,
  closed = 0,
  failed = 0,
}: StreamEventOf<'batch_ended'>): string {
  if (op === 'spawn_batch')
    return `Made ${workstreams(succeeded)}${denied > 0 ? `; ${denied} of ${total} could not be made` : ''}`;
  return `Closed ${workstreams(closed)}${failed > 0 ? `; ${failed} of ${total} could not be closed` : ''}`;
}

const workstreams = (count: number): string => `${count} workstream${count === 1 ? '' : 's'}`;
