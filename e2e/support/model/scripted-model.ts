import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { z } from 'zod';
import type { OpenAnswer, Step } from './scripted-steps.ts';

/** The model's steps for one request, in order. A finish chunk is added automatically. */
export type Answer = Step | readonly Step[];

const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

export interface RecordedRequest {
  body: ChatRequest;
  headers: IncomingHttpHeaders;
  /** Resolves when the response has ended: whether it was sent completely or the client disconnected before. */
  closed: Promise<{ whole: boolean }>;
}

export interface ScriptedModel extends AsyncDisposable {
  /** Base URL, ending in /v1. */
  url: string;
  /** The chat requests so far, oldest first. */
  requests: RecordedRequest[];
  /** Method and path of every other request, with its authorization: `GET /v1/models Bearer key`. */
  others: string[];
  /** The answers to the next requests, one each. */
  script(...answers: Answer[]): void;
  /** The answers whenever the last user message contains `text`, besides those of the daemon: the first, then one after each batch of tool results. */
  when(text: string, ...answers: Answer[]): void;
  /** Checked first; undefined leaves the request to `when` and `script`. */
  onRequest(decide: (body: ChatRequest) => Answer | undefined): void;
  /** Resolves with the n-th chat request, counted from 0, once it has arrived. */
  request(index: number): Promise<RecordedRequest>;
  /** Whether it refuses to say which models it has, so that nobody learns from a probe that it is back. */
  isAway: boolean;
  close(): Promise<void>;
}

/** An OpenAI-compatible server with scripted answers. */
export async function startScriptedModel({
  modelId = 'scripted',
  contextWindow = 1_000_000,
  key = '',
  /** Default: a free one. */
  port: wantedPort = 0,
} = {}): Promise<ScriptedModel> {
  const requests: RecordedRequest[] = [];
  const others: string[] = [];
  const queue: Answer[] = [];
  const rules: { text: string; answers: Answer[] }[] = [];
  const waiting: { index: number; resolve(request: RecordedRequest): void }[] = [];
  let decide: (body: ChatRequest) => Answer | undefined = () => undefined;

  const choose = (body: ChatRequest): Answer | undefined => decide(body) ?? findRule(rules, body) ?? queue.shift();

  const onChat = async (request: IncomingMessage, response: ServerResponse) => {
    const body = ChatRequest.parse(JSON.parse(await readText(request)));
    const { promise: closed, resolve } = Promise.withResolvers<{ whole: boolean }>();
    response.once('close', () => resolve({ whole: response.writableFinished }));
    const recorded = { body, headers: request.headers, closed };
    const index = requests.push(recorded) - 1;
    for (const waiter of waiting) if (waiter.index === index) waiter.resolve(recorded);
    const answer = choose(body);
    if (!answer) return sendJson(response, 400, { error: { message: `Nothing is scripted for request ${index}.` } });
    await play(answer, { response, modelId });
  };

  const server = createServer((request, response) => {
    const path = `${request.method} ${request.url}`;
    if (key !== '' && request.headers.authorization !== `Bearer ${key}`) {
      request.resume();
      return sendJson(response, 401, { error: { message: 'Incorrect API key provided.' } });
    }
    if (path === 'POST /v1/chat/completions') return void onChat(request, response).catch(() => response.destroy());
    others.push(`${path} ${request.headers.authorization ?? ''}`.trim());
    if (scripted.isAway) return sendJson(response, 503, { error: { message: 'nobody home' } });
    if (path !== 'GET /v1/models') return sendJson(response, 404, { error: { message: 'Not found' } });
    sendJson(response, 200, { object: 'list', data: [{ id: modelId, object: 'model', max_model_len: contextWindow }] });
  });
  await once(server.listen(wantedPort, '127.0.0.1'), 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  const close = async () => {
    server.closeAllConnections();
    if (server.listening) await new Promise((done) => server.close(done));
  };
  const scripted: ScriptedModel = {
    url: `http://127.0.0.1:${port}/v1`,
    isAway: false,
    requests,
    others,
    script: (...answers) => void queue.push(...answers),
    when: (text, ...answers) => void rules.unshift({ text, answers }),
    onRequest: (fn) => {
      decide = fn;
    },
    async request(index) {
      return requests[index] ?? new Promise((resolve) => waiting.push({ index, resolve }));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return scripted;
}

/** Written by a person or a program: the daemon tells models things in messages of the same role, or before the words of a person. */
const isAsked = ({ role, content }: ChatRequest['messages'][number]): boolean =>
  role === 'user' && !(typeof content === 'string' && OF_THE_DAEMON.test(content));

const OF_THE_DAEMON = /^(?:<environment>(?:(?!<\/environment>)[\s\S])*<\/environment>\s*)+$/;

const textOf = (message: ChatRequest['messages'][number] | undefined): string =>
  typeof message?.content === 'string' ? message.content : JSON.stringify(message?.content ?? '');

/** The daemon's own words count if there is no answer to those of the person. */
function findRule(rules: { text: string; answers: Answer[] }[], { messages }: ChatRequest): Answer | undefined {
  const answerTo = (index: number) => {
    const said = textOf(messages[index]);
    const rule = rules.find(({ text }) => said.includes(text));
    const since = messages.slice(Math.max(index, 0));
    return rule?.answers[since.filter(({ role }) => role === 'assistant').length];
  };
  return answerTo(messages.findLastIndex(isAsked)) ?? answerTo(messages.findLastIndex(({ role }) => role === 'user'));
}

async function play(
  answer: Answer,
  { response, modelId }: { response: ServerResponse; modelId: string },
): Promise<void> {
  const open = openAnswer(response, modelId);
  for (const step of 'run' in answer ? [answer] : answer) {
    await step.run(open);
    if (step.ends || response.destroyed) return;
  }
  const { finishReason, askedForTools, usage } = open.state;
  open.chunk({}, finishReason ?? (askedForTools ? 'tool_calls' : 'stop'));
  open.data({ ...chunkOf(modelId), choices: [], usage: usage ?? DEFAULT_USAGE });
  open.raw('data: [DONE]\n\n');
  open.end();
}

const DEFAULT_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function openAnswer(response: ServerResponse, modelId: string): OpenAnswer {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const sendHeaders = () => {
    if (response.headersSent) return;
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.flushHeaders();
  };
  const raw = (bytes: string | Uint8Array) => {
    sendHeaders();
    response.write(bytes);
  };
  const data = (payload: object) => raw(`data: ${JSON.stringify(payload)}\n\n`);
  return {
    sendHeaders,
    raw,
    data,
    chunk: (delta, finishReason = null) =>
      data({ ...chunkOf(modelId), choices: [{ index: 0, delta, finish_reason: finishReason }] }),
    error: (status, headers, body) => sendJson(response, status, body, headers),
    head: (status, headers) => void response.writeHead(status, headers),
    end: () => void response.end(),
    reset: () => void response.socket?.resetAndDestroy(),
    signal: gone.signal,
    state: { askedForTools: false },
  };
}

const chunkOf = (modelId: string) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: modelId,
});

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

// biome-ignore lint/complexity/useMaxParams: status and body as every HTTP answer has them; headers are rare.
function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
