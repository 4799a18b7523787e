// "You are": everything on the page is what this person sees.
import { Avatar } from "./Avatar";
import type { Role } from "./people";

interface Props {
  people: Role[];
  person: string;
  become: (person: string) => void;
}

const faceOf = (role: Role | undefined) =>
  role && { initials: role.initials ?? role.name.slice(0, 1), colour: role.colour };

export function PersonSwitch({ people, person, become }: Props) {
  const now = people.find((one) => one.id === person);
  return (
    <label className="person-switch">
      <Avatar id={person} face={faceOf(now)} isSmall />
      <span className="person-you">You are</span>
      <select
        value={person}
        onChange={({ target }) => become(target.value)}
        data-testid="person-switch"
        aria-label="You are"
      >
        {people.map((one) => (
          <option key={one.id} value={one.id}>
            {one.role ? `${one.name} – ${one.role}` : one.name}
          </option>
        ))}
      </select>
    </label>
  );
}
