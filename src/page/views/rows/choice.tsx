interface ChoiceProps<T extends string | number> {
  label: string;
  value: T;
  /** Values with their words. */
  options: readonly (readonly [T, string])[];
  onChoose(value: T): void;
}

/** One of several values, such as a filter of a list. */
export const Choice = <T extends string | number>({ label, value, options, onChoose }: ChoiceProps<T>) => (
  <label>
    {label}
    <select
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = options[currentTarget.selectedIndex];
        if (chosen) onChoose(chosen[0]);
      }}
    >
      {options.map(([one, words]) => (
        <option key={one} value={one}>
          {words}
        </option>
      ))}
    </select>
  </label>
);
