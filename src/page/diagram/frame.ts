import mermaid from 'mermaid';
import { type DrawAnswer, type DrawRequest, isTooLarge, toDrawRequest } from '../state/diagrams/diagram-messages.ts';
import type { PartRow } from '../views/parts/part-loader.ts';
import { draw, toReason } from './draw.ts';

/* The frame that draws diagrams: /static/diagram.html. Its origin is opaque, its policy allows its own scripts and no requests. */

const listed = document.getElementById('parts')?.textContent ?? '{}';
const rows: Record<string, PartRow> = JSON.parse(listed);
const { parts } = globalThis.headgate;
/** The parts of the scripts that are here. A part runs when it is needed, after those that it needs. */
const made: Record<string, () => void> = {};
globalThis.headgate = Object.assign({ parts, load }, { made });
const begun = new Map<string, Promise<object>>();
const fetched = new Map<string, Promise<void>>();

function load(name: string): Promise<object> {
  return once(begun, name, async () => {
    const row = rows[name];
    if (row === undefined) throw new Error(`The diagrams have no part ${name}`);
    await Promise.all([...row.needs.map(load), once(fetched, row.file, () => fetchScript(row))]);
    made[name]?.();
    const part = parts[name];
    if (part === undefined) throw new Error(`The part ${name} could not start`);
    return part;
  });
}

/** What failed is tried again. */
function once<T>(known: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  const begun = known.get(name) ?? make();
  known.set(name, begun);
  begun.catch(() => known.delete(name));
  return begun;
}

function fetchScript({ file, integrity }: PartRow): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const script = document.createElement('script');
  const onerror = () => reject(new Error('A part of the diagrams could not be loaded.'));
  Object.assign(script, {
    src: `/static/${file}`,
    integrity,
    crossOrigin: 'anonymous',
    onload: () => resolve(),
    onerror,
  });
  document.head.append(script);
  return promise;
}

/** The page itself; the policy lets no other frame this document. */
const page = window.parent;
const { origin } = new URL(location.href);

window.addEventListener('message', ({ source, origin: sender, data }) => {
  const request = source === page && sender === origin ? toDrawRequest(data) : undefined;
  if (request !== undefined) void answer(request);
});

async function answer({ id, ...request }: DrawRequest): Promise<void> {
  try {
    const picture = await draw(mermaid, request);
    say(isTooLarge(picture) ? { kind: 'none', id, reason: 'The diagram is too large.' } : { ...picture, id });
  } catch (error) {
    say({ kind: 'none', id, reason: toReason(error) });
  }
}

/** To the page only: the origin of this frame is opaque, that of the page is known. */
const say = (message: DrawAnswer): void => page.postMessage(message, origin);

say({ kind: 'ready' });
