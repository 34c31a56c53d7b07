"""What ralph-tracker-example adds to ralph-tracker."""
