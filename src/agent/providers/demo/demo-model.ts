import type { Clock } from '../../../clock.ts';
import { describeAttachment } from '../../attached-content.ts';
import { isAsked, type ToolMessage } from '../../message.ts';
import { createCallIds } from '../ai-sdk/call-ids.ts';
import { type Model, type ModelPart, type ModelRequest, ProviderError } from '../model.ts';
import { type DemoCommand, demoHelp, parseDemoCommand } from './demo-command.ts';

interface TextStep {
  type: 'reasoning' | 'content';
  text: string;
  byLine?: boolean;
}

type Step = TextStep | { type: 'tools'; calls: { name: string; text: string }[] };

/**
 * A built-in stand-in for a model: works offline, always answers the same message in the same way, and says that it is
 * a demo.
 */
export function createDemoModel({ clock }: { clock: Clock }): Model {
  return {
    alias: 'demo',
    provider: 'demo',
    modelId: 'demo',
    family: 'demo',
    fallback: [],
    contextWindow: CONTEXT_WINDOW,
    price: { input: 0, output: 0 },
    async *stream(request, signal) {
      signal.throwIfAborted();
      if (!request.typedByPerson) throw new ProviderError('refused', UNATTENDED);
      const steps = answer(request);
      let completionTokens = 0;
      for await (const part of write(steps, { clock, signal, request })) {
        if (part.type !== 'tool_call') completionTokens++;
        yield part;
      }
      yield {
        type: 'finish',
        reason: steps.some(({ type }) => type === 'tools') ? 'tool_calls' : 'stop',
        usage: { promptTokens: countTokens(request), completionTokens, cacheCreationTokens: 0, cacheReadTokens: 0 },
      };
    },
  };
}

const CONTEXT_WINDOW = 32_768;
const IS_DEMO = 'I am the demo model built into Headgate, not a real one.';
const CONFIGURE =
  'For a real model, set `OPENAI_BASE_URL` (any OpenAI-compatible server), `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GOOGLE_GENERATIVE_AI_API_KEY` and restart Headgate, or name a model in config.json.';
const UNATTENDED =
  'The built-in demo model acts only on messages that a person typed. Configure a real model for unattended runs.';

/** The whole answer, before it is streamed. */
function answer({ messages, tools }: ModelRequest): Step[] {
  const lastUser = messages.findLastIndex(isAsked);
  const since = messages.slice(lastUser + 1);
  const asked = since.flatMap((message) => (message.role === 'assistant' ? message.toolCalls.map(({ id }) => id) : []));
  // They are stored as they finish; a reader expects them in the order of the calls.
  const results = since
    .filter((message) => message.role === 'tool')
    .toSorted((one, other) => asked.indexOf(one.callId) - asked.indexOf(other.callId));
  const last = messages[lastUser];
  const names = new Set(tools.map(({ name }) => name));
  if (results.length > 0) return goOn(last?.role === 'user' ? typed(last.content) : '', { results, tools: names });
  if (last?.role !== 'user') return follow(parseDemoCommand(''), new Set());
  const got = (last.attachments ?? []).map(describeAttachment);
  const received = got.length === 0 ? [] : [say(`I got ${got.join(', ')}, which the demo model cannot read.\n\n`)];
  if (got.length > 0 && last.content === '') return received;
  return [...received, ...follow(parseDemoCommand(typed(last.content)), names)];
}

/** The answer after tool results: an explanation reads the README from the list; everything else is summarised. */
function goOn(message: string, { results, tools }: { results: ToolMessage[]; tools: ReadonlySet<string> }): Step[] {
  const [list] = results;
  const isList = results.length === 1 && list?.name === 'list_directory' && list.outcome === 'done';
  const readme = isList ? README.exec(list.output)?.[0] : undefined;
  if (readme !== undefined && parseDemoCommand(message).kind === 'explain')
    return call([{ name: 'read_file', arguments: { path: readme } }], tools);
  return [say(summarise(results))];
}

const README = /(?<=^|\s)readme(?:\.md|\.txt|\.rst)?(?=\s|$)/i;

/** The message without lines that the daemon added for the model, such as reports of jobs, which no person typed. */
const typed = (message: string): string => message.replace(/\n\n(System: \[[^\]\n]+\] [^\n]*(\n|$))+$/, '');

const say = (text: string): Step => ({ type: 'content', text });

function follow(command: DemoCommand, tools: ReadonlySet<string>): Step[] {
  switch (command.kind) {
    case 'help':
      return [say(`${IS_DEMO} I understand:\n\n${demoHelp()}\n\n${CONFIGURE}`)];
    case 'say':
      return [say(`${command.text}\n\n*(said by the demo model)*`)];
    case 'think':
      return [
        { type: 'reasoning', text: `The user wants me to think about: ${command.text}. I can only pretend to.` },
        say(`I thought about “${command.text}”, as far as a demo model can.`),
      ];
    case 'long':
      return [{ type: 'content', text: longText(command.lines), byLine: true }];
    case 'usage':
      return [say(`${IS_DEMO} Write it like this: \`${command.text}\`.`)];
    case 'unknown':
      return [say(`${IS_DEMO} I cannot answer that, but I can show you everything else: say **help**. ${CONFIGURE}`)];
    case 'explain':
      return call([{ name: 'list_directory', arguments: { path: '.' } }], tools);
    case 'call':
      return call(command.calls, tools);
  }
}

function call(calls: { name: string; arguments: Record<string, unknown> }[], tools: ReadonlySet<string>): Step[] {
  const missing = calls.find(({ name }) => !tools.has(name));
  if (missing) return [{ type: 'content', text: `${IS_DEMO} The tool ${missing.name} is not available here.` }];
  const what = calls.length === 1 ? 'a tool' : `${calls.length} tools at once`;
  return [
    { type: 'content', text: `As the demo model, I call ${what}.` },
    { type: 'tools', calls: calls.map(({ name, arguments: args }) => ({ name, text: JSON.stringify(args) })) },
  ];
}

const longText = (lines: number) =>
  Array.from({ length: lines }, (_, n) => `Line ${n + 1} of the demo model.`).join('\n');

const MAX_QUOTED_LINES = 10;

function summarise(results: ToolMessage[]): string {
  const said = results.map(({ name, output, outcome }) => {
    if (outcome === 'denied') return `You did not allow \`${name}\` (${output}), so I did not run it.`;
    const lines = output.trimEnd().split('\n');
    const quoted = lines.slice(0, MAX_QUOTED_LINES).map((line) => `    ${line}`);
    const rest = lines.length > MAX_QUOTED_LINES ? `\n\n… and ${lines.length - MAX_QUOTED_LINES} more lines` : '';
    const verb = outcome === 'done' ? 'answered' : 'failed';
    return output.trim() === ''
      ? `\`${name}\` ${verb} without output.`
      : `\`${name}\` ${verb}:\n\n${quoted.join('\n')}${rest}`;
  });
  return `${said.join('\n\n')}\n\nThat is all a demo model can say about it.`;
}

const PAUSE_MS = 15;
const MAX_PAUSES = 40;

async function* write(
  steps: Step[],
  { clock, signal, request }: { clock: Clock; signal: AbortSignal; request: ModelRequest },
): AsyncGenerator<ModelPart> {
  const callIds = createCallIds(request);
  for (const step of steps) {
    if (step.type !== 'tools') yield* writeText(step, { clock, signal });
    else
      for (const { name, text } of step.calls)
        yield { type: 'tool_call', call: { id: callIds.take('demo'), name, arguments: text } };
  }
}

/** Streams word by word, with a limited total time. Long texts on purpose are streamed line by line. */
async function* writeText(
  { type, text, byLine }: TextStep,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): AsyncGenerator<ModelPart> {
  const pieces = text.split(byLine ? /(?<=\n)/ : /(?<=\S)(?=\s)/);
  const piecesPerPause = byLine ? 1 : Math.ceil(pieces.length / MAX_PAUSES);
  for (const [index, piece] of pieces.entries()) {
    if (index % piecesPerPause === 0) await clock.sleep(PAUSE_MS, signal);
    yield { type, text: piece };
  }
}

// A token is about four characters; the status line needs a number.
const countTokens = ({ system, messages }: ModelRequest) =>
  Math.ceil((system.length + JSON.stringify(messages).length) / 4);
