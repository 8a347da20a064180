import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { serveTasks } from '../task-process.ts';
import { getText, HttpConnection, postText } from './http-connection.ts';

/** Both ends of a relay in one process, so that one clock measures both: the model and the readers. */
interface Reader {
  wsId: string;
  socket: Socket;
  rest: string;
  /** Resolves when the stream has sent the stored messages. */
  history: PromiseWithResolvers<void>;
}

/** Answers of the model that have started; `speak` sends their content. */
let speaking: ServerResponse[] = [];
let onAsked: () => void = () => undefined;
const readers: Reader[] = [];
/** How many characters of answers the readers have received. */
let received = 0;
let idle = 0;
let onProgress: () => void = () => undefined;
/** Calls of tools that the readers were told of, and when the last one arrived. */
let toldOfCall = { count: 0, atMs: 0 };
let latenciesMs: number[] = [];

const tasks = {
  /** Opens the model's server and returns its base URL. */
  async serveModel(_: undefined): Promise<string> {
    const server = createServer((request, response) => {
      if (request.url === '/v1/models') {
        const models = { object: 'list', data: [{ id: 'scripted', object: 'model', max_model_len: 1_000_000 }] };
        return void response.writeHead(200, JSON_TYPE).end(JSON.stringify(models));
      }
      request.resume();
      request.once('end', () => {
        speaking.push(response);
        onAsked();
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const address = server.address();
    return `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/v1`;
  },

  /** Opens one event stream per workstream. */
  async read({ port, token, wsIds }: { port: number; token: string; wsIds: string[] }): Promise<void> {
    for (const reader of readers.splice(0)) reader.socket.destroy();
    for (const wsId of wsIds) readers.push(await openReader({ port, token, wsId }));
  },

  /** Like `read`, for the product, until the streams have sent the messages that are stored. */
  async readStored(target: { port: number; token: string; wsIds: string[] }): Promise<void> {
    await tasks.read(target);
    await Promise.all(readers.map(({ history }) => history.promise));
  },

  /** Sends one message to every workstream. Resolves when all are accepted and all have called the model. */
  async begin({ port, token }: { port: number; token: string }): Promise<number> {
    speaking = [];
    received = 0;
    idle = 0;
    const asked = until((done) => {
      onAsked = () => speaking.length === readers.length && done();
    });
    const connections = readers.slice(0, 16).map(() => new HttpConnection(port));
    await Promise.all(connections.map((connection, index) => sendSome(connection, { token, first: index })));
    await asked;
    for (const connection of connections) connection.close();
    return readers.length;
  },

  /** Sends `chunks` chunks of every answer, at once or one every `everyMs`. Resolves when the readers have received them. */
  async speak({ chunks, everyMs }: { chunks: number; everyMs?: number }): Promise<Spoken> {
    latenciesMs = [];
    for (const response of speaking) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const all = speaking.length * chunks * STAMP_CHARS;
    const told = until((done) => {
      onProgress = () => received >= all && done();
    });
    if (everyMs === undefined) await speakAtOnce(chunks);
    else await speakPaced(chunks, everyMs);
    await told;
    latenciesMs.sort((a, b) => a - b);
    const at = (share: number) => latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0;
    return { chunks: speaking.length * chunks, p50Ms: at(0.5), p99Ms: at(0.99) };
  },

  /** Ends all answers. Resolves when every workstream is idle again. */
  async finish(_: undefined): Promise<void> {
    const over = until((done) => {
      onProgress = () => idle >= readers.length && done();
    });
    for (const response of speaking) end(response);
    await over;
  },

  /** Sends messages to the first workstream, one after the other. Returns how long each took to reach the model. */
  async turns({ port, token, count }: { port: number; token: string; count: number }): Promise<number[]> {
    const connection = new HttpConnection(port);
    const [reader] = readers;
    const tookMs: number[] = [];
    for (let n = 0; n < count; n += 1) {
      speaking = [];
      idle = 0;
      let askedMs = 0;
      const over = until((done) => {
        onProgress = () => idle > 0 && done();
      });
      onAsked = () => {
        askedMs = performance.now();
        for (const response of speaking) {
          response.writeHead(200, { 'Content-Type': 'text/event-stream' });
          response.write(chunk('ok'));
          end(response);
        }
      };
      const request = sendText(reader?.wsId ?? '', token);
      const sentMs = performance.now();
      await connection.send(request);
      await over;
      tookMs.push(askedMs - sentMs);
    }
    connection.close();
    return tookMs;
  },

  /** Has the model call commands in the first workstream, one per turn. Returns how long each took to reach the reader. */
  async calls({ port, token, commands }: { port: number; token: string; commands: string[] }): Promise<number[]> {
    const connection = new HttpConnection(port);
    const [reader] = readers;
    const tookMs: number[] = [];
    for (const command of commands) {
      speaking = [];
      idle = 0;
      toldOfCall = { count: 0, atMs: 0 };
      let calledMs = 0;
      const over = until((done) => {
        onProgress = () => idle > 0 && done();
      });
      onAsked = () => {
        const response = speaking.pop();
        if (response === undefined) return;
        response.writeHead(200, { 'Content-Type': 'text/event-stream' });
        if (calledMs > 0) return end(response);
        response.end(`${call(command)}${chunk('', 'tool_calls')}data: [DONE]\n\n`);
        calledMs = performance.now();
      };
      await connection.send(sendText(reader?.wsId ?? '', token));
      await over;
      if (toldOfCall.count !== 1) throw new Error(`the reader was told of ${toldOfCall.count} calls`);
      tookMs.push(toldOfCall.atMs - calledMs);
    }
    connection.close();
    return tookMs;
  },

  /** Has the model call a command in the first workstream. Returns how long answers of /health took until its end. */
  async attack({ port, token, command }: { port: number; token: string; command: string }): Promise<number[]> {
    const [connection, health] = [new HttpConnection(port), new HttpConnection(port)];
    speaking = [];
    idle = 0;
    let calls = 0;
    onAsked = () => {
      const response = speaking.pop();
      calls += 1;
      response?.writeHead(200, { 'Content-Type': 'text/event-stream' });
      if (calls === 1) response?.end(`${call(command)}${chunk('', 'tool_calls')}data: [DONE]\n\n`);
      else if (response) end(response);
    };
    await connection.send(sendText(readers[0]?.wsId ?? '', token));
    const tookMs: number[] = [];
    while (idle === 0) {
      const sentMs = performance.now();
      await health.send(getText('/health', token));
      tookMs.push(performance.now() - sentMs);
      await sleep(5);
    }
    connection.close();
    health.close();
    return tookMs;
  },
};

export type ModelTasks = typeof tasks;

export interface Spoken {
  chunks: number;
  /** From the model's write to the reader's read. */
  p50Ms: number;
  p99Ms: number;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

const sendText = (wsId: string, token: string): string =>
  postText('/v1/api/send', { ws_id: wsId, message: 'Say something.' }, token);

async function sendSome(connection: HttpConnection, { token, first }: { token: string; first: number }): Promise<void> {
  for (let index = first; index < readers.length; index += 16) {
    await connection.send(sendText(readers[index]?.wsId ?? '', token));
  }
}

const until = (arm: (done: () => void) => void): Promise<void> => new Promise((resolve) => arm(resolve));

/** A chunk of an answer; `finish` makes it the last. */
const chunk = (content: string, finish?: string): string => frameOf(finish ? {} : { content }, finish);

/** A call of a command. */
function call(command: string): string {
  const fields = { name: 'bash', arguments: JSON.stringify({ command }) };
  return frameOf({ tool_calls: [{ index: 0, id: 'call_0', type: 'function', function: fields }] });
}

function frameOf(delta: object, finish?: string): string {
  const choice = { index: 0, delta, finish_reason: finish ?? null };
  const json = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1_790_000_000,
    model: 'scripted',
    choices: [choice],
  };
  return `data: ${JSON.stringify(json)}\n\n`;
}

function end(response: ServerResponse): void {
  response.end(`${chunk('', 'stop')}data: [DONE]\n\n`);
}

/** The time of writing as the content of an answer: microseconds in 15 digits and a space. */
const STAMP_CHARS = 16;
const stamp = (): string =>
  `${Math.round(performance.now() * 1000)
    .toString()
    .padStart(STAMP_CHARS - 1, '0')} `;

async function speakAtOnce(chunks: number): Promise<void> {
  const perWrite = 100;
  for (let sent = 0; sent < chunks; sent += perWrite) {
    const text = chunk(stamp()).repeat(Math.min(perWrite, chunks - sent));
    await Promise.all(speaking.map((response) => writeFully(response, text)));
  }
}

async function writeFully(response: ServerResponse, text: string): Promise<void> {
  if (!response.write(text)) await once(response, 'drain');
}

/** Spreads the chunks of different answers over each interval. */
async function speakPaced(chunks: number, everyMs: number): Promise<void> {
  const beganMs = performance.now();
  const total = chunks * speaking.length;
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - beganMs) / everyMs) * speaking.length));
    for (; sent < due; sent += 1) speaking[sent % speaking.length]?.write(chunk(stamp()));
    await sleep(1);
  }
}

async function openReader({ port, token, wsId }: { port: number; token: string; wsId: string }): Promise<Reader> {
  const socket = connect({ port, host: '127.0.0.1' });
  const reader: Reader = { wsId, socket, rest: '', history: Promise.withResolvers() };
  socket.setEncoding('latin1').on('data', (text: string) => take(reader, text));
  socket.write(getText(`/v1/api/events?ws_id=${wsId}`, token));
  await once(socket, 'data');
  return reader;
}

function take(reader: Reader, text: string): void {
  const frames = (reader.rest + text).split('\n\n');
  reader.rest = frames.pop() ?? '';
  for (const frame of frames) {
    if (frame.includes('data: {"type":"content"')) takeContent(/"text":"([^"]*)"/.exec(frame)?.[1] ?? '');
    else if (frame.includes('data: {"type":"tool_info"'))
      toldOfCall = { count: toldOfCall.count + 1, atMs: performance.now() };
    else if (frame.includes('data: {"type":"history"')) reader.history.resolve();
    else if (frame.includes('data: {"type":"ws_state"') && frame.includes('"state":"idle"')) idle += 1;
  }
  onProgress();
}

function takeContent(text: string): void {
  const nowMs = performance.now();
  received += text.length;
  for (let at = 0; at < text.length; at += STAMP_CHARS) {
    latenciesMs.push(nowMs - Number(text.slice(at, at + STAMP_CHARS)) / 1000);
  }
}

serveTasks(tasks);
