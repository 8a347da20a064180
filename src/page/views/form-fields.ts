/** The shortest password that the daemon accepts. */
export const LEAST_PASSWORD = 8;

export const NOT_THE_SAME = 'The two passwords are not the same.';

/**
 * The values of a form’s text fields by name. They are read from the form itself, because password managers fill in
 * fields without an event.
 */
export const fieldsOf = (form: HTMLFormElement): Partial<Record<string, string>> =>
  Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));

/** The values of the ticked boxes with this name. */
export const tickedIn = (form: HTMLFormElement, name: string): string[] => new FormData(form).getAll(name).map(String);
