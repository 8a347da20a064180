// A tool server that appends to a file when a call begins and ends, as commands of tests do. A call takes a moment, and tells
// of its progress meanwhile.
import { appendFileSync } from 'node:fs';
import { argv, pid } from 'node:process';
import { createInterface } from 'node:readline';
import { systemClock } from '../../../src/clock.ts';
import { pause } from '../deadline.ts';

const [, , file = ''] = argv;
const STEPS = 3;
const STEP_MS = 40;
let calls = 0;

interface Request {
  id?: number | string;
  method?: string;
  params?: { arguments?: { tag?: string }; _meta?: { progressToken?: string | number } };
}

const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};

async function record({ id, params }: Request): Promise<void> {
  calls += 1;
  const start = `${pid}-${calls}`;
  const note = (phase: string) =>
    appendFileSync(file, `${params?.arguments?.tag} ${start} ${phase} ${systemClock.now() / 1000}\n`);
  note('begin');
  for (let progress = 1; progress <= STEPS; progress += 1) {
    await pause(STEP_MS);
    const progressToken = params?._meta?.progressToken;
    const message = `step ${progress}`;
    if (progressToken !== undefined)
      send({ method: 'notifications/progress', params: { progressToken, progress, message } });
  }
  note('end');
  send({ id, result: { content: [{ type: 'text', text: 'recorded' }] } });
}

const inputSchema = { type: 'object', properties: { tag: { type: 'string' } } };

for await (const line of createInterface({ input: process.stdin })) {
  const request: Request = JSON.parse(line);
  const { id, method } = request;
  if (method === 'initialize') {
    const serverInfo = { name: 'recorder', version: '1' };
    send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list')
    send({ id, result: { tools: [{ name: 'record', description: 'Records.', inputSchema }] } });
  else if (method === 'tools/call') void record(request);
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'Method not found' } });
}
