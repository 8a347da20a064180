// POST / sends its body to every WebSocket, after it was stored in DATABASE_URL if that is set; POST /sse writes it to every event stream opened with GET.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import pg from 'pg';
import { WebSocketServer } from 'ws';
import { listen } from './listen.ts';

const streams = new Set<ServerResponse>();

const { DATABASE_URL } = process.env;
const database = DATABASE_URL === undefined ? undefined : new pg.Client(DATABASE_URL);
await database?.connect();
await database?.query('create table if not exists events (id bigserial primary key, body text)');

const server = createServer(async (request, response) => {
  if (request.method === 'GET') return open(response);
  const text = await textOf(request);
  await database?.query('insert into events (body) values ($1)', [text]);
  if (request.url === '/sse') for (const stream of streams) stream.write(text);
  else for (const socket of sockets.clients) socket.send(text);
  response.writeHead(200, { 'Content-Length': 0 }).end();
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });

function open(response: ServerResponse): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.flushHeaders();
  streams.add(response);
  response.once('close', () => streams.delete(response));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

listen(server);
