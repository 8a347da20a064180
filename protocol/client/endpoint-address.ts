import type { Endpoint } from '../http/endpoint.ts';
import type { ENDPOINTS } from '../http/index.ts';

/** The address of an endpoint, with the types of its row but without its schemas, which only the daemon needs. */
export type EndpointAddress<E extends Endpoint = Endpoint> = Pick<E, 'verb' | 'path' | 'answers'> & {
  readonly row?: E;
};

/** The addresses of all endpoints, by their groups. */
export type Addresses = {
  [Group in keyof typeof ENDPOINTS]: {
    [Name in keyof (typeof ENDPOINTS)[Group]]: EndpointAddress<Extract<(typeof ENDPOINTS)[Group][Name], Endpoint>>;
  };
};
