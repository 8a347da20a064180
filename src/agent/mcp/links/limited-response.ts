const MIB = 1024 * 1024;

/** The most that is read of one message, and of a whole answer, in bytes. */
interface Limits {
  message: number;
  stream: number;
}

/**
 * Ends an answer that would fill the memory. The SDK reads a whole event of an event stream, however many lines it has, and the
 * whole of any other body, before it looks at its message.
 */
export function withLimits(
  response: Response,
  { message, stream }: Limits = { message: 16 * MIB, stream: 256 * MIB },
): Response {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const ofMessage = isEventStream(headers) ? createEventMeter() : createBodyMeter();
  let bytes = 0;
  const limited = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.length;
        if (ofMessage(chunk) > message) controller.error(tooLong(message));
        else if (bytes > stream) controller.error(tooLong(stream));
        else controller.enqueue(chunk);
      },
    }),
  );
  return new Response(limited, { status, statusText, headers });
}

const tooLong = (most: number) => new Error(`sends an answer of more than ${most / MIB} MiB`);

/** By the same words as the SDK: parameters of the type do not count. */
const isEventStream = (headers: Headers): boolean =>
  headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() === 'text/event-stream';

/** Takes the bytes of a message as they arrive, and gives the size of the longest one so far, or of the one that is not complete. */
type Meter = (chunk: Uint8Array) => number;

function createBodyMeter(): Meter {
  let bytes = 0;
  return (chunk) => {
    bytes += chunk.length;
    return bytes;
  };
}

/** An empty line ends an event. Lines end with CR, LF or both. */
function createEventMeter(): Meter {
  let bytes = 0;
  let last = LF;
  return (chunk) => {
    let most = 0;
    /** Where the event began, in this chunk or before it. */
    let begin = -bytes;
    // By its index: an iterator of bytes takes ten times as long.
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0; // within its length
      if (endsLine(byte) && endsLine(last) && !isOneEnd(last, byte)) {
        most = Math.max(most, at - begin);
        begin = at + 1;
      }
      last = byte;
    }
    bytes = chunk.length - begin;
    return Math.max(most, bytes);
  };
}

const LF = 10;
const CR = 13;

const endsLine = (byte: number): boolean => byte === LF || byte === CR;
const isOneEnd = (first: number, second: number): boolean => first === CR && second === LF;
