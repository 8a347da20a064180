import type { GatewayClient, GatewayClientOptions } from '../../../protocol/client/ws-client.ts';
import type { Appearance } from './appearance.ts';
import type { Files } from './files.ts';
import type { Login } from './login.ts';

/** The browser features that the page uses; tests pass their own. */
export interface Browser {
  login: Omit<Login, 'leftMs' | 'refresh'>;
  files: Files;
  openClient(options: Required<Pick<GatewayClientOptions, 'onStatus' | 'onGap'>>): GatewayClient;
  schedule(run: () => void): void;
  isVisible(): boolean;
  /** Storage of this browser tab that survives a reload. */
  memory: Pick<Storage, 'getItem' | 'setItem'>;
  /** Storage of this browser. */
  lasting: Pick<Storage, 'getItem' | 'setItem'>;
  appearance: Appearance;
  newKey(): string;
  /** Milliseconds since 1970. */
  now(): number;
  /** IANA time zone of the browser. */
  timeZone: string;
  /** Reads and removes the part of the address after `#`. */
  fragment: { read(): string; clear(): void };
  /** The same for the part from `?`. */
  search: { read(): string; clear(): void };
}
