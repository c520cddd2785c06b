/// A value that is never printed: neither a description nor a dump nor a log shows it.
package struct Secret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// The secret itself, for the one place that needs it; it belongs in no message.
    package let revealed: String

    /// Wraps a text that came from a safe place.
    package init(_ text: String) { revealed = text }

    /// Always `(secret)`.
    package var description: String { "(secret)" }
    /// Always `(secret)`.
    package var debugDescription: String { "(secret)" }
    /// Without children, so that `dump` shows nothing either.
    package var customMirror: Mirror { Mirror(self, children: [(label: String?, value: Any)]()) }
}
