import type { z } from 'zod';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import type { MethodName, Params, Result } from '../../protocol/index.ts';
import type { HeaderFields } from './status.ts';

/** An endpoint said in terms of one gateway method: renamings and nothing else. */
export interface Binding {
  endpoint: Endpoint;
  method: MethodName;
  params(request: never): unknown;
  reply(result: never): unknown;
  headers?(result: never, via: Via): HeaderFields;
  /** The daemon asks its own gateway: for a public endpoint over a method that is not. */
  asDaemon?: true;
}

/** How the client reached us, as far as cookies depend on it. */
export interface Via {
  /** Plain http to this machine itself, where browsers store no Secure cookie. */
  loopback: boolean;
}

interface Renamings<E extends Endpoint, M extends MethodName> {
  params(request: z.output<E['request']>): Params<M>;
  reply(result: Result<M>): z.input<E['reply']>;
  headers?(result: Result<M>, via: Via): HeaderFields;
  asDaemon?: true;
}

export const bind = <E extends Endpoint, M extends MethodName>(
  endpoint: E,
  method: M,
  renamings: Renamings<E, M>,
): Binding => ({ endpoint, method, ...renamings });

/** HTTP's "default empty" and null: as good as not given. */
export const given = (text: string | null | undefined): string | undefined => text || undefined;
