// Keeps a part that cannot be drawn from taking the page with it, and says so in its place.
import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** What is drawn; when that changes, it is tried again. */
  of?: unknown;
}

export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override componentDidUpdate(before: Props) {
    if (this.state.failed && before.of !== this.props.of) this.setState({ failed: false });
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    const { of } = this.props;
    return (
      <div className="not-drawn" role="alert" data-testid="not-drawn">
        <strong>This part could not be drawn.</strong>
        {of ? <pre>{JSON.stringify(of, null, 1)}</pre> : null}
      </div>
    );
  }
}
