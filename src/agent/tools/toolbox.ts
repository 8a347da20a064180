import { z } from 'zod';
import type { WorkstreamKind } from '../../../protocol/methods/conversation/kinds.ts';
import { toVisibleLine, toVisibleText } from '../../../protocol/text/visible-text.ts';
import { toCanonicalJson } from '../../canonical-json.ts';
import { guardCall, whyNotWritten } from '../guard/guarded-calls.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import type { ToolCall } from '../message.ts';
import type { ToolDefinition } from '../providers/model.ts';
import type { Prepared, Tool, ToolContext } from './tool.ts';

/** The tools of a conversation. */
export interface Toolbox {
  /** The tools as described to models. */
  definitions(): readonly ToolDefinition[];
  /** Resolves when all tools are known that a conversation could begin with, or after a while. Rejects with the signal's reason. */
  ready?(signal: AbortSignal): Promise<void>;
  /** Never throws: a problem with a call becomes a refusal that the model reads. */
  prepare(call: ToolCall, context: ToolContext): Promise<PreparedCall>;
  /** Whether there is a tool of this name that models are not told of, because they find it with a search. */
  isFound?(name: string): boolean;
  /** The tools of coordinators, if they have others. */
  forCoordinators?: Toolbox;
}

/** The tools of workstreams of this kind. */
export const toolboxFor = <T extends Pick<Toolbox, 'forCoordinators'>>(kind: WorkstreamKind, toolbox: T): T | Toolbox =>
  (kind === 'coordinator' ? toolbox.forCoordinators : undefined) ?? toolbox;

export type PreparedCall = Prepared & {
  /** Absent for an unknown tool. */
  tool?: Tool;
  /** The same text for the same arguments, however the model wrote them; the raw text if it could not be parsed. */
  canonicalArguments: string;
};

/**
 * Combines tools. Here, for all tools, hidden characters in texts for people are made visible, and what they return passes
 * the guard.
 */
export function createToolbox(
  tools: readonly Tool[],
  guard: OutputGuard,
  others: ChangingTools = NO_CHANGING_TOOLS,
): Toolbox {
  const ordinary = tools.filter(({ kind }) => kind === undefined);
  const toolbox = createOne(ordinary, guard, others);
  if (ordinary.length === tools.length) return toolbox;
  return { ...toolbox, forCoordinators: createOne(tools, guard, others) };
}

function createOne(tools: readonly Tool[], guard: OutputGuard, others: ChangingTools): Toolbox {
  const offered = tools.filter(({ isHidden = false }) => !isHidden);
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  // Sent with every model turn. Building a JSON Schema takes longer than the rest of the request, so it is built once,
  // on first use.
  let definitions: readonly ToolDefinition[] | undefined;
  let changing: readonly Tool[] = [];
  const present = () => [...offered, ...others.offered()].map(({ name }) => name).join(', ');
  return {
    ready: (signal) => others.ready(signal),
    definitions() {
      const now = others.offered();
      if (definitions === undefined || now !== changing) definitions = [...offered, ...now].map(toDefinition);
      changing = now;
      return definitions;
    },
    isFound: (name) => others.find(name) !== undefined && !others.offered().some((one) => one.name === name),
    async prepare(call, context) {
      const find = () => byName.get(call.name) ?? others.find(call.name);
      // A daemon that was killed may have forgotten what servers told it, and asks them again.
      if (find() === undefined) await others.ready(context.signal).catch(() => undefined); // it was cancelled
      const tool = find();
      const prepared = tool
        ? { tool, ...(await prepareKnown(tool, { call, context, guard })) }
        : refuse(call, `Unknown tool: ${call.name}. Available tools: ${present()}.`);
      return toVisibleCall(prepared);
    },
  };
}

/** Tools that come and go while the daemon runs. */
export interface ChangingTools {
  /** Those that models are told of; the same list until it changes. */
  offered(): readonly Tool[];
  /** One of all that can be called. */
  find(name: string): Tool | undefined;
  /** See Toolbox. */
  ready(signal: AbortSignal): Promise<void>;
}

const NO_CHANGING_TOOLS: ChangingTools = { offered: () => [], find: () => undefined, ready: async () => undefined };

function toDefinition(tool: Tool): ToolDefinition {
  const known = DEFINITIONS.get(tool);
  if (known) return known;
  const { name, description, parameters, schema = z.toJSONSchema(parameters, { io: 'input' }) } = tool;
  const { $schema: _, ...shown } = schema;
  const definition = { name, description, parameters: shown };
  DEFINITIONS.set(tool, definition);
  return definition;
}

const DEFINITIONS = new WeakMap<Tool, ToolDefinition>();

async function prepareKnown(
  tool: Tool,
  { call, context, guard }: { call: ToolCall; context: ToolContext; guard: OutputGuard },
): Promise<PreparedCall> {
  const read = readArguments(call.arguments);
  if (read.kind === 'malformed') return refuse(call, `JSON parse error: ${read.message}`);
  if (isTooDeep(read.value))
    return refuse(call, `Invalid arguments: they are nested more than ${MOST_LEVELS} levels deep.`);
  const args = tool.parameters.safeParse(read.value);
  if (!args.success) return refuse(call, `Invalid arguments: ${args.error.issues.map(toProblem).join('; ')}`);
  const canonicalArguments = toCanonicalJson(args.data);
  const problem = tool.readOnly ? undefined : whyNotWritten(tool.newText?.(args.data) ?? textOf(args.data));
  if (problem !== undefined) return { ...refuse(call, problem), canonicalArguments };
  try {
    return { ...guardCall(await tool.prepare(args.data, context), guard), canonicalArguments };
  } catch (error) {
    // The code is enough (EACCES, EMFILE); a message could contain secrets.
    const code = error instanceof Error && 'code' in error ? ` (${error.code})` : '';
    return { ...refuse(call, `${tool.name} could not be prepared${code}.`), canonicalArguments };
  }
}

/** More is no data but a model that repeats itself; what walks through it would run out of stack. */
const MOST_LEVELS = 200;

function isTooDeep(value: unknown, levels = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels >= MOST_LEVELS || Object.values(value).some((inner) => isTooDeep(inner, levels + 1));
}

/** Tags have no characters that JSON writes in another way. */
const textOf = (args: unknown): string => JSON.stringify(args) ?? '';

type ReadArguments = { kind: 'json'; value: unknown } | { kind: 'malformed'; message: string };

function readArguments(text: string): ReadArguments {
  if (text.trim() === '') return { kind: 'json', value: {} }; // some models call a tool without arguments this way
  try {
    return { kind: 'json', value: JSON.parse(text) };
  } catch (error) {
    return { kind: 'malformed', message: error instanceof Error ? error.message : 'not JSON' };
  }
}

function toProblem({ path, message }: z.core.$ZodIssue): string {
  return path.length > 0 ? `${path.join('.')}: ${message}` : message;
}

function refuse(call: ToolCall, reason: string): PreparedCall {
  return { kind: 'refused', subject: '', reason, canonicalArguments: call.arguments };
}

function toVisibleCall(call: PreparedCall): PreparedCall {
  const subject = toVisibleLine(call.subject);
  return call.kind === 'ready'
    ? { ...call, subject, preview: toVisibleText(call.preview) }
    : { ...call, subject, reason: toVisibleText(call.reason) };
}
