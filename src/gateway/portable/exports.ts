import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import type { FileNote } from '../../../protocol/methods/conversation/conversation-file.ts';
import type { Attachment, HistoryNote } from '../../../protocol/stream-events.ts';
import { toPlainName } from '../../../protocol/text/plain-text.ts';
import type { Attachments } from '../attachments/attachments.ts';
import { countOf, type Part } from '../cuts/cut.ts';
import { isShown } from '../history/history.ts';
import { lastComplete } from '../history/last-complete.ts';
import type { Messages, StoredMessage } from '../history/messages.ts';
import type { Notes } from '../history/notes.ts';
import { givenName } from '../listing/given-name.ts';
import type { Viewer } from '../sharing/perception.ts';
import type { Store } from '../store/store.ts';
import { unknownWorkstream } from '../workstreams/session-keys.ts';
import type { WorkstreamData } from '../workstreams/workstream-data.ts';
import { readAnywhere } from '../workstreams/workstream-rows.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';
import { type ExportedAgent, measureAgents, placeAgents, readIntact, toFileAgent } from './file-agent.ts';
import { toFileMessage } from './file-message.ts';
import { type ToldAgent, toAgentSections, toMarkdown } from './markdown.ts';

interface ExportsDeps {
  store: Pick<Store, 'db' | 'reportDamage'>;
  workstreams: Pick<Workstreams, 'lookUp'>;
  messages: Messages;
  notes: Notes;
  attachments: Pick<Attachments, 'read'>;
}

/** A conversation at one moment, to write as a file. */
export interface Exportable {
  /** For the name of the file. */
  label: string;
  /** The JSON text of a ConversationFile, piece by piece, with every message on a line of its own. */
  json(): AsyncGenerator<string>;
  /** For people, piece by piece; cannot be imported. */
  markdown(): AsyncGenerator<string>;
}

/** Messages read at a time. */
const PAGE = 200;
/** A multiple of three bytes, so that the pieces of base64 fit together. */
const BASE64_STEP = 3 * 64 * 1024;

/** Writes conversations, open or closed, as files. A run may be in progress; its open calls are left out. */
export class Exports {
  readonly #deps: ExportsDeps;

  constructor(deps: ExportsDeps) {
    this.#deps = deps;
  }

  /** Throws NOT_FOUND; INVALID_REQUEST for an empty conversation; and for a damaged one the error of the store. */
  async open(wsId: string, viewer: Viewer): Promise<Exportable> {
    const { workstreams, messages } = this.#deps;
    const data = await workstreams.lookUp(wsId, viewer, { read: readAnywhere });
    if (data?.wsId !== wsId) throw unknownWorkstream();
    const { contextAfterSeq: after, messageCount } = data;
    const newest = await messages.page(wsId, { after, upTo: messageCount, limit: PAGE });
    const upTo = lastComplete(newest) ?? after;
    const { parts, chars } = await messages.measureIntact(wsId, { after, upTo });
    if (countOf(parts) === 0) throw new GatewayError('INVALID_REQUEST', 'This conversation has no messages to export.');
    const agents = await measureAgents(this.#deps.store, wsId);
    const source = { data, parts, chars, after, upTo, agents };
    return {
      label: data.title ?? data.name,
      json: () => this.#json(source),
      markdown: () => this.#markdown(source),
    };
  }

  async *#json(source: Source): AsyncGenerator<string> {
    const places = new Map<string, { place: number; attachment: Attachment }>();
    const placeOf = (attachment: Attachment): number => {
      const { attachment_id: id } = attachment;
      const known = places.get(id) ?? { place: places.size, attachment };
      places.set(id, known);
      return known.place;
    };
    const seqs: number[] = [];
    const calls = new Set<string>();
    const room = roomIn(source);
    yield `${toText(headOf(source.data)).slice(0, -1)},"messages":[`;
    for await (const page of withCalls(this.#read(source), calls)) {
      const lines = page.map((stored) => toText(toFileMessage(stored, placeOf)));
      yield `${seqs.length > 0 ? ',' : ''}\n${lines.join(',\n')}`;
      seqs.push(...page.map(({ seq }) => seq));
    }
    const notes = (await this.#notes(source)).flatMap((note) => toFileNote(note, seqs));
    yield `\n],"notes":[${listOf(notes.map(toText))}]`;
    const agents = placeAgents(source.agents, { calls, room: room / 2 });
    yield* this.#agents(agents);
    yield ',"files":[';
    const taken = agents.reduce((sum, { chars, fits }) => sum + (fits ? 2 * chars : 0), 0);
    let budget = ((room - taken) * 3) / 4;
    for (const { place, attachment } of places.values()) {
      const bytes = attachment.size_bytes <= budget ? await this.#deps.attachments.read(attachment) : undefined;
      budget -= bytes?.length ?? 0;
      yield place > 0 ? ',\n' : '\n';
      yield* fileOf(attachment, bytes);
    }
    yield ']}\n';
  }

  async *#agents(placed: ReturnType<typeof placeAgents>): AsyncGenerator<string> {
    if (placed.length === 0) return; // earlier versions import the file, too
    for (const [place, agent] of placed.entries())
      yield `${place > 0 ? ',' : ',"agents":['}\n${toText(await toFileAgent(this.#deps.store, agent))}`;
    yield '\n]';
  }

  async *#markdown(source: Source): AsyncGenerator<string> {
    const { data } = source;
    const notes = await this.#notes(source);
    const calls = new Set<string>();
    const pages = withCalls(this.#read(source), calls);
    yield* toMarkdown({ title: data.title ?? data.name, notes, pages });
    const agents = placeAgents(source.agents, { calls, room: roomIn(source) / 2 });
    yield* toAgentSections(this.#told(agents));
  }

  async *#told(placed: ReturnType<typeof placeAgents>): AsyncGenerator<ToldAgent> {
    for (const { state, fits, count } of placed) {
      const messages = fits ? await readIntact(this.#deps.store, state) : [];
      yield { title: state.title, outcome: state.outcome ?? 'cancelled', messages, omitted: fits ? 0 : count };
    }
  }

  /** Without messages of the daemon to the model: they are about its machine. */
  async *#read({ data, parts }: Source): AsyncGenerator<StoredMessage[]> {
    for await (const page of this.#deps.messages.read(data.wsId, parts, PAGE)) {
      const shown = page.filter(isShown);
      if (shown.length > 0) yield shown;
    }
  }

  #notes({ data, after: from, upTo }: Source): Promise<HistoryNote[]> {
    return this.#deps.notes.newest(data.wsId, { from, upTo }, MOST_NOTES);
  }
}

const MOST_NOTES = LIMITS.conversationFileNotes;
const MIB = 1024 * 1024;

/** The calls of an answer, which may have started sub-agents. */
const callsOf = ({ message }: StoredMessage): string[] =>
  message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : [];

/** Adds the calls of all pages. */
async function* withCalls(pages: AsyncIterable<StoredMessage[]>, calls: Set<string>): AsyncGenerator<StoredMessage[]> {
  for await (const page of pages) {
    for (const id of page.flatMap(callsOf)) calls.add(id);
    yield page;
  }
}

/** How many characters fit next to the messages. Throws if the messages alone are too much to import. */
function roomIn({ parts, chars }: Source): number {
  const { conversationFileBytes: most, conversationFileMessages } = LIMITS;
  const room = most - 2 * chars; // escapes and names: at most twice the text
  if (room >= 0 && countOf(parts) <= conversationFileMessages) return room;
  throw new GatewayError(
    'PAYLOAD_TOO_LARGE',
    `The conversation is too long for a file that can be imported (${conversationFileMessages} messages, ${most / 2 / MIB} MiB). Export it as Markdown, or copy a part of it first.`,
  );
}

/** The messages of a conversation at one moment. */
interface Source {
  data: WorkstreamData;
  parts: readonly Part[];
  /** Of all messages, as they are stored. */
  chars: number;
  after: number;
  upTo: number;
  agents: readonly ExportedAgent[];
}

/** JSON without halves of surrogate pairs, which importing refuses. */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'string' ? inner.toWellFormed() : inner));

const listOf = (lines: readonly string[]): string => (lines.length > 0 ? `\n${lines.join(',\n')}\n` : '');

const MOST_TITLE_CHARS = 1_024;

function headOf(data: WorkstreamData): object {
  const { wsId: ws_id, sessionKey: session_key, generatedName: generated_name } = data;
  const { modelAlias: model, thinkingLevel, verboseLevel } = data;
  const name = data.alias ?? givenName({ ws_id, session_key, generated_name });
  const title = toPlainName(data.title ?? '').slice(0, MOST_TITLE_CHARS);
  return {
    format: 'headgate-conversation',
    version: 1,
    ...(name !== null && { name }),
    ...(title !== '' && { title }),
    ...(model !== null && { model }),
    ...(thinkingLevel !== null && { thinkingLevel }),
    ...(verboseLevel !== null && { verboseLevel }),
  };
}

/**
 * A note of the file; none for a damaged one. Summaries stay behind, because the file has the original messages, and
 * decisions about instruction files and budgets, because they are about this machine, and about plans, whose results tell.
 */
function toFileNote(note: HistoryNote, seqs: readonly number[]): FileNote[] {
  const at = { createdMs: note.created_ms, after: countUpTo(seqs, note.after_seq) };
  if (note.kind === 'compacted') return [];
  if (note.kind === 'info') {
    const { after_seq: _, created_ms: __, ...info } = note;
    return [{ ...at, ...info }];
  }
  if (note.kind === 'error') return note.damaged ? [] : [{ ...at, kind: note.kind, message: note.message }];
  const { kind, question, calls, approved, always, feedback, by } = note;
  if (question === 'instructions' || question === 'budget' || question === 'plan') return [];
  const named = calls.map(({ call_id: callId, name }) => ({ callId, name }));
  return [{ ...at, kind, question, calls: named, approved, always, feedback, by: by.kind }];
}

/** How many of the ascending numbers are at most `seq`. */
function countUpTo(seqs: readonly number[], seq: number): number {
  let [low, high] = [0, seqs.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seqs[middle] ?? 0) <= seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

function* fileOf(attachment: Attachment, bytes: Buffer | undefined): Generator<string> {
  const { filename: name, mime_type: mimeType, size_bytes: sizeBytes } = attachment;
  const head = toText({ name, mimeType, sizeBytes });
  if (!bytes) return yield head;
  yield `${head.slice(0, -1)},"base64":"`;
  for (let at = 0; at < bytes.length; at += BASE64_STEP) yield bytes.subarray(at, at + BASE64_STEP).toString('base64');
  yield '"}';
}
