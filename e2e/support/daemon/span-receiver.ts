import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A span as it was received, with its attributes as plain values. */
export interface ReceivedSpan {
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  attributes: Record<string, unknown>;
  /** 2: it failed. */
  status: number;
}

interface OtlpValue {
  stringValue?: string;
  intValue?: string | number;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: OtlpValue[] };
}

interface OtlpAttribute {
  key: string;
  value: OtlpValue;
}

interface OtlpSpan extends Omit<ReceivedSpan, 'attributes' | 'status'> {
  attributes: OtlpAttribute[];
  status?: { code?: number };
}

interface OtlpRequest {
  resourceSpans: {
    resource: { attributes: OtlpAttribute[] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

/** A collector of spans: OTLP over HTTP, in JSON. It listens on `port`, by default any free one. */
export async function startSpanReceiver({ port = 0 }: { port?: number } = {}) {
  const spans: ReceivedSpan[] = [];
  const bodies: string[] = [];
  const resources: Record<string, unknown>[] = [];
  let mode: 'accept' | 'refuse' | 'hang' = 'accept';
  let requests = 0;
  const arrived = new EventEmitter();
  const server = createServer(async (req, res) => {
    requests += 1;
    arrived.emit('request');
    const now = mode;
    if (now === 'hang') return;
    const body = (await json(req)) as OtlpRequest;
    if (now === 'refuse') return void res.writeHead(503).end();
    bodies.push(JSON.stringify(body));
    if (req.url !== '/v1/traces' || req.method !== 'POST') return void res.writeHead(404).end();
    spans.push(...spansOf(body));
    resources.push(...body.resourceSpans.map(({ resource }) => toPlain(resource.attributes)));
    res.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    arrived.emit('spans');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    resources,
    /** Waits for so many more requests, whatever becomes of them. */
    async more(count: number): Promise<void> {
      const goal = requests + count;
      while (requests < goal) await once(arrived, 'request');
    },
    become(next: typeof mode) {
      mode = next;
    },
    /** Waits for the first span that the condition accepts. */
    async find(accepts: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
      for (;;) {
        const found = spans.find(accepts);
        if (found) return found;
        await once(arrived, 'spans');
      }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const spansOf = ({ resourceSpans }: OtlpRequest): ReceivedSpan[] =>
  resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(toSpan)));

const toSpan = ({ attributes, status, ...span }: OtlpSpan): ReceivedSpan => ({
  ...span,
  attributes: toPlain(attributes),
  status: status?.code ?? 0,
});

const toPlain = (attributes: readonly OtlpAttribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, plainOf(value)]));

const plainOf = ({ stringValue, intValue, doubleValue, boolValue, arrayValue }: OtlpValue): unknown =>
  arrayValue?.values.map(plainOf) ??
  stringValue ??
  (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue));
