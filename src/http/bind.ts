import type { z } from 'zod';
import type { GatewayError } from '../../protocol/errors.ts';
import type { Endpoint } from '../../protocol/http/endpoint.ts';
import type { MethodName, Params, Result } from '../../protocol/index.ts';
import type { FieldNames } from './input/field-problems.ts';
import type { HeaderFields, Statuses } from './status.ts';

/** An endpoint mapped to one gateway method by renaming fields. */
export interface Binding {
  endpoint: Endpoint;
  method: MethodName;
  params(request: never, via: Via): unknown;
  reply(result: never, request: never): unknown;
  /** Fields to add to the body of a refusal, from the error's details. */
  refusal?(details: unknown): Record<string, unknown>;
  /** The reply instead of a refusal, for paths that tell some refusals as a status; undefined for the others. */
  replyTo?(details: unknown): unknown;
  headers?(result: never, via: Via): HeaderFields;
  /** Headers of the redirect that answers a refusal, for pages that a person opens; undefined: the usual answer. */
  refusedTo?(error: GatewayError, via: Via): (HeaderFields & { Location: string }) | undefined;
  /** Whether the call created something, for an endpoint whose status is `200 or 201`. */
  isNew?(result: never): boolean;
  fieldNames?: FieldNames;
  statuses?: Statuses;
  /** The daemon calls the method itself: for a public endpoint whose method requires a scope. */
  asDaemon?: true;
}

/** How the client reached the daemon, as far as cookies depend on it. */
export interface Via {
  /** Plain HTTP over loopback, where browsers do not store Secure cookies. */
  loopback: boolean;
  /** A cookie of the request. */
  cookieOf(name: string): string | undefined;
}

interface Renamings<E extends Endpoint, M extends MethodName> {
  params(request: z.output<ReturnType<E['request']>>, via: Via): Params<M>;
  reply(result: Result<M>, request: z.output<ReturnType<E['request']>>): z.input<ReturnType<E['reply']>>;
  refusal?(details: unknown): Record<string, unknown>;
  replyTo?(details: unknown): z.input<ReturnType<E['reply']>> | undefined;
  fieldNames?: FieldNames;
  statuses?: Statuses;
  asDaemon?: true;
}

/** A redirect says where to. */
type RenamedHeaders<E extends Endpoint, M extends MethodName> = 302 extends E['status']
  ? { headers(result: Result<M>, via: Via): HeaderFields & { Location: string } } & Pick<Binding, 'refusedTo'>
  : { headers?(result: Result<M>, via: Via): HeaderFields };

type RenamedStatus<E extends Endpoint, M extends MethodName> = '200 or 201' extends E['status']
  ? { isNew(result: Result<M>): boolean }
  : { isNew?: never };

export const bind = <E extends Endpoint, M extends MethodName>(
  endpoint: E,
  method: M,
  renamings: Renamings<E, M> & RenamedHeaders<E, M> & RenamedStatus<E, M>,
): Binding => ({ endpoint, method, ...renamings });

/** Treats an empty string and null as not given, as the specification does. */
export const given = (text: string | null | undefined): string | undefined => text || undefined;
