import { type ReadonlySignal, signal } from '@preact/signals';
import type { ParamsInput, Result } from '../../../../protocol/index.ts';
import { BUILTIN_ROLES, isBuiltinRole } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Role } from '../../../../protocol/methods/accounts/role.ts';
import { type Reader, Reading } from '../reading/reading.ts';
import { attempt } from './refusal.ts';

/** A role in the form of a user. */
interface Choice {
  roleId: string;
  /** The person may give it and take it away. */
  assignable: boolean;
}

/** The roles of the daemon. */
export class RoleBoard {
  readonly #client: Reader;
  readonly reading: Reading;
  /** Of the roles that the person may give. */
  readonly choosing: Reading;
  readonly #roles = signal<readonly Role[] | undefined>(undefined);
  readonly #choices = signal<Result<'user.role.choices'>['roles']>([]);

  constructor(client: Reader) {
    this.#client = client;
    this.reading = new Reading(client);
    this.choosing = new Reading(client);
  }

  /** The built-in ones first. Undefined until the first answer. */
  get roles(): ReadonlySignal<readonly Role[] | undefined> {
    return this.#roles;
  }

  read(): Promise<void> {
    return this.reading.read(
      () => this.#client.call('role.list', {}),
      ({ roles }) => {
        this.#roles.value = roles;
      },
    );
  }

  /** Reads which roles the person may give to users. That needs another permission than seeing what roles allow. */
  readChoices(): Promise<void> {
    return this.choosing.read(
      () => this.#client.call('user.role.choices', {}),
      ({ roles }) => {
        this.#choices.value = roles;
      },
    );
  }

  /** This and the next methods return an error message, or undefined on success. */
  add(params: ParamsInput<'role.create'>): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('role.create', params));
  }

  change(params: ParamsInput<'role.update'>): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('role.update', params));
  }

  remove(roleId: string): Promise<string | undefined> {
    return this.#attempt(() => this.#client.call('role.delete', { roleId }));
  }

  /** The name to show for a role id. */
  nameOf(roleId: string): string {
    const named = this.#roles.value ?? this.#choices.value;
    const known = named.find((role) => role.roleId === roleId);
    if (known) return known.displayName;
    return isBuiltinRole(roleId) ? BUILTIN_ROLES[roleId].displayName : roleId;
  }

  /** Whether there are roles that the person may not give. */
  get hidesSome(): boolean {
    return this.#choices.value.some(({ assignable }) => !assignable);
  }

  /** The roles that a form shows: those that the person may give, and those that the user holds. */
  choices(held: readonly string[]): Choice[] {
    const known = this.#choices.value.filter(({ roleId, assignable }) => assignable || held.includes(roleId));
    const gone = held.filter((roleId) => !known.some((role) => role.roleId === roleId)); // or not read yet
    return [...known, ...gone.map((roleId) => ({ roleId, assignable: false }))];
  }

  async #attempt(act: () => Promise<unknown>): Promise<string | undefined> {
    const problem = await attempt(act);
    await this.read(); // after a refusal too: the list may be out of date
    return problem;
  }
}
