import { readBody } from './read-body.ts';

interface Asked {
  body?: unknown;
  /** Default: no credential. */
  token?: string;
}

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: JSON of the answer under test.
  body: any;
}

/** A raw request below `/v1/api/`, with its own credential or with none. */
export async function askApi(
  at: { url: string },
  [method, path]: readonly [string, string],
  { body, token }: Asked = {},
): Promise<Answer> {
  const response = await fetch(new URL(`/v1/api/${path}`, at.url), {
    method,
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const told = await readBody(response);
  return { status: response.status, headers: response.headers, body: told === '' ? undefined : told };
}

/** The status and the error of an answer. */
export const told = ({ status, body }: Answer) => [status, body.error];
