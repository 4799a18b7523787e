// Keeps a part that cannot be drawn from taking the page with it, and says so in its place.
import { Component, type ReactNode } from "react";

interface Props {
  children: ReactNode;
  /** What to read instead. */
  instead?: string;
}

export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError() {
    return { failed: true };
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <div className="not-drawn" role="alert" data-testid="not-drawn">
        <strong>This part could not be drawn.</strong>
        {this.props.instead ? <pre>{this.props.instead}</pre> : null}
      </div>
    );
  }
}
