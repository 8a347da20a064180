import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** The content codings that we support, in order of preference. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** A text that never changes while the daemon runs, compressed by the build. */
export interface StaticText {
  /** As bytes where it is long, because V8 would keep two bytes per character. */
  text: string | Buffer;
  encoded: Partial<Record<Encoding, Uint8Array>>;
}

/**
 * Chooses the coding that an `Accept-Encoding` prefers (RFC 9110, 12.5.3); undefined means no coding. Clients that do
 * not ask get none. A client that refuses every coding, including `identity`, gets the plain text, which is better than
 * a 406.
 */
export function chooseEncoding(acceptEncoding: string | undefined): Encoding | undefined {
  if (acceptEncoding === undefined) return undefined;
  const weights = readWeights(acceptEncoding);
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const best = ENCODINGS.reduce((chosen, name) => (weightOf(name) > weightOf(chosen) ? name : chosen));
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

/** Whether a client accepts this coding and does not prefer the plain text. */
export function accepts(encoding: Encoding, acceptEncoding: string | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const weights = readWeights(acceptEncoding);
  const weight = weights.get(encoding) ?? weights.get('*') ?? 0;
  return weight > 0 && weight >= (weights.get('identity') ?? 0);
}

function readWeights(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>();
  for (const member of acceptEncoding.toLowerCase().split(',')) {
    const [name = '', ...parameters] = member.split(';').map((part) => part.trim());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(q) ? Number(q) : 0;
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight);
  }
  return weights;
}

const compressors = {
  br: (bytes: Buffer) =>
    toBrotli(bytes, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: 4,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes: Buffer) => toGzip(bytes),
} satisfies Record<Encoding, (bytes: Buffer) => Promise<Buffer>>;
const toBrotli = promisify(brotliCompress);
const toGzip = promisify(gzip);

/** Compression shares its threads with file reads. */
const MAX_AT_ONCE = 8;
let running = 0;

/** Compresses outside the event loop; undefined when too many compressions are running. */
export async function compress(bytes: Buffer, encoding: Encoding): Promise<Buffer | undefined> {
  if (running >= MAX_AT_ONCE) return undefined;
  running++;
  try {
    return await compressors[encoding](bytes);
  } finally {
    running--;
  }
}
