import { createPartLoader, type PartLoader, type PartRow } from './part-loader.ts';

declare global {
  /** Made by the build; the page adds `load`. */
  var headgate: PartLoader;
}

/** Gives the scripts of the build the loader that they expect. */
export function installParts(): void {
  const listed = document.getElementById('parts')?.textContent ?? '{}';
  const rows: Record<string, PartRow> = JSON.parse(listed);
  globalThis.headgate = createPartLoader({ parts: headgate.parts, rows, run, statusOf });
}

function run(address: string, integrity: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  // No module: browsers remember a module that they could not load, and would not ask for it again.
  const script = document.createElement('script');
  Object.assign(script, { src: address, integrity, onload: () => resolve(), onerror: reject });
  document.head.append(script);
  return promise.finally(() => script.remove());
}

const statusOf = (address: string): Promise<number | undefined> =>
  window.fetch(address, { method: 'HEAD' }).then(
    ({ status }) => status,
    () => undefined,
  );
